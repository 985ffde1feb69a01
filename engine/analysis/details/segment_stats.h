// What the bytes of every segment of a state are used for, with a picture of it in letters: `gpustrata
// stats`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/charge.h"
#include "engine/base/status.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::analysis {

// Bytes; sums stay at 2^63 - 1.
struct BlockUses {
  int64_t allocated = 0;  // active_allocated blocks
  int64_t pending = 0;    // active_pending_free blocks
  int64_t requested = 0;  // of the allocated ones, before rounding
  int64_t rounding = 0;   // of the allocated ones, beyond the request
  int64_t free = 0;
};

struct SegmentStats {
  replay::SegmentAt segment;
  BlockUses uses;
  // One character per page of 20 MiB (2 MiB for segments below 20 MiB; longer where a bar would have more
  // than 400): a letter for a page that one block is in, a digit for the filled tenths of a page that several
  // are in, * if it is full, a space if it is empty. Only active_allocated blocks count.
  std::string bar;
};

struct MemoryStats {
  explicit MemoryStats(Budget& budget) : charge(budget) {}

  std::vector<SegmentStats> segments;  // by size, then active bytes, then address
  BlockUses sum;
  Charge charge;  // for the segments and their bars, and for writing them
};
// O(blocks + segments log segments). Error: limit_exceeded.
[[nodiscard]] Result<MemoryStats> memory_stats(const replay::MemoryAt& memory, Budget& budget);

}  // namespace gpustrata::analysis
