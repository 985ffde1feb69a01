// Loops of the program, told by source lines (call_sites.h), and the one that counts as its steps.
//
// From one allocation to the next the walk leaves a site for another below the same caller. In the same function at a lower
// line it went back: the function loops there, or was called again. It was called again if it is also left for elsewhere
// from the line that it left, and entered from elsewhere at the line that it comes to; then the caller's line loops. So does
// a line that calls what it called before again.
//
// A line is passed as often as something goes back across it: lines of one loop are passed equally often, whatever is
// left out in some of its repeats. The loop that counts holds kLeastShare of the allocations and lies not inside
// modules, optimizers, autograd or `__init__`. Of those with an optimizer in it, the innermost across whose line it is
// gone back. Else the outermost whose repeats are about as long as each other; one that does not train must also give
// back most of what it takes, which layers of a forward pass do not.
// A function with "epoch" in its name that is called again and again is none: what it repeats is. "train_epoch" whose
// lines all repeat cannot be told from one that is called so often: only the lines are said.
// O(events * depth + candidates * (events + sites)).
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

inline constexpr int32_t kFewestRepeats = 3;

// The lines that repeat.
struct LoopPlace {
  FrameId function;  // a line of it; none = different functions, called by nothing
  int32_t first_line = 0, last_line = 0;
  FrameId call;  // the line that calls it; none = nothing does
};

struct Loop {
  explicit Loop(Budget& budget) : begin(budget) {}

  LoopPlace place;
  bool trains = false;    // has an optimizer or a backward pass in it
  Column<int32_t> begin;  // per repeat: its first event; ascending
  int32_t end = 0;        // the first event after its last allocation
  bool goes_on = false;   // to the program's last allocation: the last repeat may not be whole
  double sureness = 0;    // 0 to 1

  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(begin.size()); }
};

// Why no loop counts: of those that were looked at, the one that came nearest.
enum class NoLoop : uint8_t {
  no,              // there is one
  no_allocations,  // none in the recording
  no_calls,        // no allocation of the program's own thread has a Python frame
  no_repeat,       // nothing repeats
  small,           // what repeats holds too few of the allocations, or lies inside modules
  irregular,       // its repeats are not like each other
  keeps,           // it gives nothing back: layers of one pass, weights that are loaded
  of_trace,        // find_steps(): a profiler's trace, whose marks are spans, which are not looked at
};

struct FoundLoop {
  std::optional<Loop> loop;
  NoLoop why_not = NoLoop::no;
};

// Error: limit_exceeded.
[[nodiscard]] Result<FoundLoop> find_loop(const model::Recording& recording, const replay::BlockLives& lives);

}  // namespace gpustrata::analysis
