// Lists of frames as the file spells them: a run of references, known again by its bytes.
//
// A program takes few ways, so the next stack is usually the last one or the one that followed the last two.
// Those are compared first, byte by byte; a table by a sample of the first bytes comes next. Only a run that
// is new, or forgotten, is decoded and interned. Equal bytes are equal stacks as long as no memo slot changes
// its value: `forget` is for that. The newest 8 MiB of runs are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/io/encodings/pickle/memo.h"
#include "engine/trace/stack_table.h"

namespace gpustrata::io {

class StackRuns {
 public:
  explicit StackRuns(trace::StackTable& stacks, Budget& budget);

  // The run of references to frames from `bytes` up to and with APPENDS; 0 bytes: it is something else, or
  // does not end kMargin bytes before `end`, or memory was refused. Nothing at or behind `end` is read. No
  // stack: the run is new, and `add` is to be called if it is wanted.
  struct Found {
    size_t bytes = 0;
    StackId stack;
  };
  static constexpr size_t kMargin = 32;
  [[nodiscard]] Found find(const uint8_t* bytes, const uint8_t* end, const pickle::Memo& memo);
  // Interns the new run that `find` found last. None: memory was refused.
  [[nodiscard]] StackId add();
  void forget();

 private:
  struct Run {
    uint32_t id;     // which run this place holds
    uint32_t first;  // byte in ring_
    uint32_t length;
    StackId stack;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  [[nodiscard]] bool make_ready();
  [[nodiscard]] const Run* run_of(uint32_t id) const {
    return id - oldest_ < next_ - oldest_ ? &runs_[id & kRunMask] : nullptr;
  }
  [[nodiscard]] bool is_at(uint32_t id, const uint8_t* bytes, size_t left) const;
  [[nodiscard]] Found take(uint32_t id);
  [[nodiscard]] uint32_t& successor_of_last_two();
  [[nodiscard]] size_t decode(const uint8_t* bytes, const uint8_t* end, const pickle::Memo& memo);
  [[nodiscard]] uint32_t remember(StackId stack);

  static constexpr uint32_t kRunMask = (1U << 16) - 1;

  Budget& budget_;
  trace::StackTable& stacks_;
  Column<uint8_t> ring_{budget_};
  Column<Run> runs_{budget_};             // a ring, too
  Column<uint32_t> successors_{budget_};  // of pairs of runs
  Column<uint32_t> samples_{budget_};     // run of a sample of bytes
  // The new run found last.
  std::vector<FrameId> frames_;
  const uint8_t* new_bytes_ = nullptr;
  size_t new_length_ = 0;
  size_t new_left_ = 0;  // bytes that may be read
  uint32_t oldest_ = 0;
  uint32_t next_ = 0;   // ids oldest_ to next_ - 1 are known
  size_t written_ = 0;  // place in ring_ behind the newest run
  uint32_t last_ = kNone;
  uint32_t before_last_ = kNone;
};

}  // namespace gpustrata::io
