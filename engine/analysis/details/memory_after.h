// The memory of a device after one event in numbers: all of it, one block, one segment. Bytes; sums of
// hostile sizes stay at 2^63 - 1.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/analysis/details/event_details.h"
#include "engine/analysis/device/event_context.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::analysis {

struct MemoryTotals {
  int32_t event = -1;  // the state after it; -1 = before the first
  std::optional<int64_t> time_us;
  replay::TotalsAt sums;
  int64_t rounding = 0;  // active less requested
  int64_t free = 0;      // in the blocks of segments that nobody uses
  int64_t pending_blocks = 0;
  int64_t segments = 0;
  int64_t blocks_without_segment = 0;
  // 1 - largest_free / free: the share of the free memory inside segments that one request of any size cannot
  // use, because it is not in the largest free block. None without free memory.
  std::optional<double> fragmentation;
};
// O(blocks of the state).
[[nodiscard]] MemoryTotals memory_totals(const EventContext& context, const replay::MemoryAt& memory);
// Free memory inside the segments. Less than reserved - active only where blocks lie outside of them.
[[nodiscard]] int64_t free_bytes(const replay::MemoryAt& memory);

struct SegmentSums {
  int64_t allocated = 0, active = 0, requested = 0, free = 0, blocks = 0, free_blocks = 0;
  int64_t rounding = 0;  // active less requested
};
// O(blocks of the segment).
[[nodiscard]] SegmentSums sums_of(const replay::MemoryAt& memory, const replay::SegmentAt& segment);

// The segment whose range holds the address, null = none. O(log segments).
[[nodiscard]] const replay::SegmentAt* segment_around(const replay::MemoryAt& memory, uint64_t address);

// A row of StateHistory::blocks. Events are indices, -1 = none.
struct StateBlock {
  int32_t row = 0;
  uint64_t address = 0;
  uint32_t version = 0;
  int64_t size = 0, requested_size = 0;
  std::optional<model::BlockState> state;  // after the event; none = it does not exist then
  int32_t begin = -1;
  int32_t end = -1;  // event after which it is gone; -1 = never
  replay::BlockEvents events;
  int32_t rank = -1;     // of the timeline
  int32_t segment = -1;  // row of StateHistory::ranges after the event
  StreamId stream;
  PoolId pool;
  StringId compile_context, user_metadata;
  Annotations annotations;
  StackId stack;  // the first with frames of alloc, block of the dump, free
  StackFrom stack_from = StackFrom::nothing;
  Who who;
  bool in_dump = false;
};
// The row exists.
[[nodiscard]] StateBlock state_block(const EventContext& context, const replay::MemoryAt& memory,
                                     int32_t block);
// Its stack alone.
struct StackOf {
  StackId stack;
  StackFrom from = StackFrom::nothing;
};
[[nodiscard]] StackOf stack_of_block(const EventContext& context, int32_t block);

// A row of StateHistory::ranges, seen after the event as the segment that holds it.
struct StateSegment {
  replay::SegmentAt segment;
  uint32_t version = 0;
  SegmentSums sums;
  bool expandable = false;
  StreamId stream;
  PoolId pool;
  int32_t begin = -1;
  int32_t end = -1;  // -1 = never
  std::optional<trace::Action> begin_action, end_action;
  StackId stack;
  Who who;
  bool in_dump = false;
};
// None if it does not exist then. The row exists.
[[nodiscard]] std::optional<StateSegment> state_segment(const EventContext& context,
                                                        const replay::MemoryAt& memory, int32_t range);

}  // namespace gpustrata::analysis
