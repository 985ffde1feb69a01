// Who holds the memory of a moment, by line, function, file, module or category.
//
//   line, function, file   of who asked for the block (own_frame.h; one thing as in frame_keys.h)
//   module                 the innermost module (torch.nn.Module) whose forward asked for it: what nn.Module.__call__ called,
//                          at a line of its caller. Two modules of one class are two if they are called at two lines.
//                          Recordings that name modules ("nn.Module: Linear_0") are taken at their word.
//   category               what it is for (categories.h)
//
// Alive at event e are the bands whose life covers the state after e; -1 is the state before the first event. Bytes are those
// of the bands: all rows together are the level of the moment, exactly.
#pragma once

#include <cstdint>
#include <span>

#include "engine/analysis/known_categories.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/bands.h"

namespace gpustrata::analysis {

enum class HolderBy : uint8_t { line, function, file, module, category };

// Whose every band is; found once.
struct HolderKeys {
  explicit HolderKeys(Budget& budget) : of(budget), frame(budget), site(budget) {}

  HolderBy by = HolderBy::line;
  Column<int32_t> of;  // per band: a holder; -1 = no stack, of modules also none
  // Per holder. Of categories there are as many as the rules name, without frames.
  Column<FrameId> frame;  // one that says who; of a module what was called
  Column<FrameId>
      site;  // of a module: where it was called; none = the recording names it, or nothing called it
};

// `categories` are needed for `category` only. O(bands + frames + nodes of the stack table). Error:
// limit_exceeded.
[[nodiscard]] Result<HolderKeys> find_holder_keys(const model::Recording& recording,
                                                  std::span<const StackId> stacks, HolderBy by,
                                                  const KnownCategories* categories);

struct Holder {
  int32_t key = -1;  // as HolderKeys::of
  int64_t bytes = 0, blocks = 0;
  int32_t largest = -1;   // its largest band, of equal ones the lowest
  int64_t lit_bytes = 0;  // of bytes: what the filter means
  double sure = 0;        // of a category: mean of its rules, by bytes
};

struct Holders {
  explicit Holders(Budget& budget) : rows(budget) {}

  int32_t event = -1;
  int64_t bytes = 0, blocks = 0;
  Column<Holder> rows;  // most bytes first, then blocks, then by key
};

// `matched`: per band 0 or 1, empty = no filter. O(bands + rows log rows). Error: limit_exceeded.
[[nodiscard]] Result<Holders> find_holders(const replay::Bands& bands, const HolderKeys& keys, int32_t event,
                                           std::span<const uint8_t> matched,
                                           const KnownCategories* categories, Budget& budget);

}  // namespace gpustrata::analysis
