// Who asked for memory, as a number for each stack of a recording: what sums of blocks are grouped by (weigh.h).
//
//   line, function, file   of who asked for the block (own_frame.h; one thing as in frame_keys.h)
//   module                 the innermost module (torch.nn.Module) whose forward asked for it: what nn.Module.__call__ called,
//                          at a line of its caller. Two modules of one class are two if they are called at two lines.
//                          Recordings that name modules ("nn.Module: Linear_0") are taken at their word.
//
// By stack, not by block, so the same for every device, view and moment.
#pragma once

#include <cstdint>

#include "engine/analysis/stacks/frame_keys.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/base/words.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

// category: what it is for (known_categories.h), of a block, not of its stack; shown: stacks that are shown as the same
// lines (shown_stacks.h).
GPUSTRATA_WORDS(By, line, function, file, module, category, stack, shown);

// The frames that are one by it; of modules, their functions.
[[nodiscard]] constexpr FrameKey frame_key_of(By by) {
  return by == By::line ? FrameKey::line : by == By::file ? FrameKey::file : FrameKey::function;
}

struct Keys {
  explicit Keys(Budget& budget) : of_stack(budget), frame(budget), site(budget) {}

  By by = By::line;
  Column<int32_t> of_stack;  // by StackId; -1 = an empty one, of modules also none
  // Per key, in the order of the stacks that first have one.
  Column<FrameId> frame;  // that says who; of a module what was called
  Column<FrameId>
      site;  // of a module: where it was called; none = the recording names it, or nothing called it

  [[nodiscard]] int32_t of(StackId stack) const { return stack.is_none() ? -1 : of_stack[stack]; }
  // Nothing for -1.
  [[nodiscard]] Who who_of(const model::Recording& recording, int32_t key) const {
    return key < 0 ? Who() : who_of_frame(recording, frame[key]);
  }
};

// By line, function, file or module. `who` is prepared. O(stacks + frames + nodes of the stack table). Error:
// limit_exceeded.
[[nodiscard]] Result<Keys> find_keys(const model::Recording& recording, const WhoOfStacks& who, By by);
// The same where nobody has it. Error: limit_exceeded.
[[nodiscard]] Result<Keys> find_keys(const model::Recording& recording, By by);

}  // namespace gpustrata::analysis
