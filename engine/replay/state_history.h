// The allocator's segments and blocks after every event of one device, found by undoing the events from the
// final state of the dump back to the first one, once.
//
//   blocks   one row per life of a block: which bytes, from which event to which, since when its free was
//            requested.
//   ranges   one row per piece of device memory that appears and disappears as a whole: a segment, or what one
//            or several segment_map and segment_unmap events made of an expandable one.
//
// Every undo checks what must be true after the event it takes back; what is not is a diagnostic (state_*)
// that names the first event, and is repaired thus:
//  - Memory or a block that must be free after an event but is in use came later: it exists from the next
//    event on. So the state nearest to the dump, which is certain, wins over older events.
//  - A block or segment that must exist after an event but does not (its end is not in the trace) exists from
//    that event until its bytes are used for something else, at the latest until the last event: the dump
//    does not have it. Of the addresses within it at most 64 are looked at for that.
//  - A request to free that no completion follows frees at once, unless the dump has the block pending. A
//    completion without a request is both. But a block older than the trace was pending before it, as its request
//    is lost, unless the trace frees a block of its own without any request: then none are written.
//  - A block outside all segments stays a block without a segment.
//
// The size of a block that the dump does not have is the request rounded up by the recorded settings, and the
// whole rest of the free block if the allocator does not split it (large pool: a rest up to 1 MiB). That rest
// is known from the smallest distance to the next block while it lived: blocks of the large pool are larger
// than 1 MiB, so a shorter distance can only be its own. Of a block from before the recording it is a lower
// bound if the rest was larger.
//
// Events are counted from the first one of the device. Time: O(events * log64(addresses)); memory: about 60
// bytes a block and 4 an event.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/alloc/config.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/span_history.h"

namespace gpustrata::replay {

// The device number of pinned host memory, as in the files.
inline constexpr int32_t kHostDevice = -1;

// Rows of one device: the host's are tables of their own in the file.
struct DeviceRows {
  int32_t device = 0;
  model::RowRange events;
  model::RowRange segments;  // of all devices; those of others are left out
  model::Clock clock{};      // of the events' times
};
[[nodiscard]] DeviceRows rows_of(const model::Part& part, int32_t device);

struct StateHistory {
  explicit StateHistory(Budget& budget);

  DeviceRows rows;
  alloc::Config config;  // the recorded one

  SpanHistory blocks;
  // Per row of `blocks`.
  Column<int64_t> requested_size;
  Column<int32_t> pending_from;    // active_pending_free after events [pending_from, end)
  Column<uint32_t> block_version;  // completed frees of that address before: the N of b'addr_N
  Column<int32_t> block_source;    // row of BlockTable if it is in the dump, else -1

  SpanHistory ranges;
  // Per row of `ranges`.
  Column<uint32_t> range_version;  // segment_free and segment_unmap events of that address before
  Column<int32_t> range_source;    // row of SegmentTable if it is in the dump, else -1
  Column<StreamId> range_stream;   // of the dump's segment, else of its events
  Column<PoolId> range_pool;       // the same; none = unknown
  Column<uint8_t> expandable;

  // Per event: row of `blocks` (alloc, free_*, annotate) or of `ranges` (segment_*), -1 = none.
  Column<int32_t> row_of_event;

  model::Diagnostics diagnostics;

  [[nodiscard]] int32_t event_count() const { return rows.events.count; }
  [[nodiscard]] bool is_pending(int32_t block, int32_t event) const { return event >= pending_from[block]; }
  // Event of the alloc, -1 = before the trace; event of the free, -1 = not in the trace.
  [[nodiscard]] int32_t born_of(int32_t block) const { return blocks.begin[block]; }
};

// Undoes the events in slices, so that who waits for a long trace can do something else in between:
//
//   StateBuilder builder(recording, part, device);
//   for (;;) {
//     const auto done = builder.step(StateBuilder::kSlice);   // some milliseconds
//     if (!done) ...                                          // the error
//     if (*done) break;                                       // builder.take() is what undo_to_start() gives
//     if (somebody waits) ...                                 // later go on where it stopped, or drop the builder
//   }
//
// One event costs about four units of work: it is read, counted, undone and numbered. Two phases have no pieces:
// sorting the distinct addresses, and settling the blocks; each is a slice of its own.
class StateBuilder {
 public:
  static constexpr int64_t kSlice = 50'000;

  // Refers to the recording.
  StateBuilder(const model::Recording& recording, const model::Part& part, int32_t device);
  ~StateBuilder();
  StateBuilder(StateBuilder&&) noexcept;
  StateBuilder& operator=(StateBuilder&&) noexcept;

  // True = done. Error: limit_exceeded; then the builder is of no use any more.
  [[nodiscard]] Result<bool> step(int64_t work);
  // How much of the time is over, about: from 0 to 1 = done. Never falls.
  [[nodiscard]] double share() const;
  // Once, after step() said true.
  [[nodiscard]] StateHistory take();

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

// All at once. Error: limit_exceeded.
[[nodiscard]] Result<StateHistory> undo_to_start(const model::Recording& recording, const model::Part& part,
                                                 int32_t device);

}  // namespace gpustrata::replay
