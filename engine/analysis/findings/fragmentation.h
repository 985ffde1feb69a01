// Fragmentation after one event: device memory that is reserved, not used, and cannot be given back, because
// something else in its segment lives.
//
//   cached        bytes of free blocks inside segments
//   held back     those of them that could not go back to the device: free bytes of segments with a live block; of an
//                 expandable segment only what does not fill whole pages, as free pages are given back alone
//   pin           a segment with both: the live blocks (in use, or waiting to be freed) keep its free bytes
//
// Freeing all live blocks of a pin gives the whole segment back. That order, most free bytes first, is the greedy
// answer to "which few blocks give most back"; segments are independent, so it is the best one per segment.
// O(blocks of the state).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/analysis/device/event_context.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::analysis {

inline constexpr size_t kMostPins = 20;

struct Pin {
  uint64_t segment = 0;  // its address
  int32_t range = -1;    // row of StateHistory::ranges
  int64_t segment_bytes = 0;
  int64_t free_bytes = 0;       // of its free blocks
  int64_t held_back_bytes = 0;  // the same, but of an expandable segment less its free pages
  int64_t pinned_bytes = 0;     // of its live blocks, as large as the allocator made them
  int64_t blocks = 0;           // live ones
  int32_t largest_block = -1;   // rows of StateHistory::blocks
  int32_t oldest_block = -1;
  bool expandable = false;

  // Mostly empty: worth a word to a person.
  [[nodiscard]] bool is_mostly_free() const { return held_back_bytes > pinned_bytes; }
};

struct Fragmentation {
  int32_t event = -1;  // the state after it
  int64_t reserved = 0, allocated = 0, pending = 0, cached = 0, largest_free = 0;
  int64_t held_back = 0;
  int64_t pinned_segments = 0;    // all pins
  int64_t pages_of_segments = 0;  // free bytes of expandable segments that could be given back alone
  int64_t empty_segments = 0;     // bytes of segments without any live block
  // Of these and of pages, in private pools, which go back only when these are let go (of a CUDA graph, a MemPool).
  int64_t private_bytes = 0;
  std::vector<Pin> pins;  // most bytes held back first, at most as many as asked for

  // What is both held back and not in the largest free piece, as a share of what is reserved: 0 to 1. Free memory in one
  // piece serves what comes, and empty segments go back; little free memory is little, however many pieces it is in.
  [[nodiscard]] int64_t lost() const {
    return std::max<int64_t>(0, std::min(held_back, cached - largest_free));
  }
  [[nodiscard]] double share() const {
    return reserved > 0 ? static_cast<double>(lost()) / static_cast<double>(reserved) : 0.0;
  }
};

// `memory` is at the event.
[[nodiscard]] Fragmentation find_fragmentation(const EventContext& context, const replay::MemoryAt& memory,
                                               size_t most_pins = kMostPins);

// The moment a report shows it for: the last out-of-memory event, else the last event; -1 = as saved. O(events).
[[nodiscard]] int32_t fragmentation_event(const model::Recording& recording, const replay::DeviceRows& rows);

// Free bytes of the block that fill whole pages of its expandable segment. `base` is the segment's address.
[[nodiscard]] int64_t whole_pages(const replay::BlockAt& block, uint64_t base, int64_t page);
// Segments of small blocks: by the dump, else by their size.
[[nodiscard]] bool is_small_segment(const EventContext& context, const replay::SegmentAt& segment);

}  // namespace gpustrata::analysis
