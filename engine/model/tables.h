// The tables of a Recording: the file to read first.
//
// Glossary (PyTorch's words, PyTorch's values):
//   segment          one range of memory obtained from the device. Blocks tile it without gaps.
//   block            a piece of a segment: active_allocated (in use), active_pending_free (given back, but
//                    another stream may still use it) or inactive (cached, free).
//   requested_size   bytes the program asked for; a block's `size` is that, rounded up by the allocator.
//   allocated        sum of sizes of active_allocated blocks;  active: pending ones too;
//   reserved         sum of segment sizes.
//   event            one entry of the allocator's history ("trace") of a device; the newest N are kept, so
//                    the beginning may be lost. Order in the list is the order of truth.
//   stream           raw handle of a CUDA stream; 0 is the default stream.
//   pool             (graph id, user id); (0, 0) is the default pool, anything else a private pool.
//
// Tables are structs of columns of equal length; rows are appended by readers only. Sizes are int64 bytes
// >= 0, addresses uint64, times int64 microseconds since the Unix epoch as the file has them.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/trace/action.h"

namespace memstrata::model {

inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kUnknownSize = -1;

// Rows [first, first + count) of a table.
struct RowRange {
  int32_t first = 0;
  int32_t count = 0;

  [[nodiscard]] int32_t end() const { return first + count; }
  bool operator==(const RowRange&) const = default;
};

enum class BlockState : uint8_t { active_allocated, active_pending_free, inactive, unknown };
enum class SegmentType : uint8_t { unknown, small, large };
enum class Tristate : uint8_t { unknown, no, yes };
enum class Stage : uint8_t { unknown, start, end };

struct EventTable {
  explicit EventTable(Budget& budget);

  Column<trace::Action> action;
  Column<uint64_t> address;   // oom: the device's free bytes (`device_free`)
  Column<int64_t> size;       // alloc, free_*: requested; segment_*: real; oom: rounded
  Column<int64_t> time_us;    // kNoTime = absent
  Column<StackId> stack;      // none = key absent
  Column<StringId> context;   // compile_context; none = absent
  Column<StringId> metadata;  // user_metadata, text or JSON text; none = absent
  Column<StreamId> stream;
  Column<PoolId> pool;  // none = absent (before 2026)

  [[nodiscard]] size_t size_rows() const { return action.size(); }
  [[nodiscard]] bool reserve(size_t rows);
};

struct BlockTable {
  explicit BlockTable(Budget& budget);

  Column<uint64_t> address;  // filled in from the segment where the file has none
  Column<int64_t> size;
  Column<int64_t> requested_size;  // kUnknownSize = absent; stale on inactive blocks
  Column<BlockState> state;
  Column<StackId> stack;  // none = no frames and no history
  Column<StringId> metadata;
  Column<RowRange> history;  // rows of HistoryTable (files of 2022-23)

  [[nodiscard]] size_t size_rows() const { return state.size(); }
};

// Past allocations inside a block (block `history` of 2022-23), as in the file.
struct HistoryTable {
  explicit HistoryTable(Budget& budget);

  Column<uint64_t> address;
  Column<int64_t> real_size;  // requested bytes
  Column<StackId> stack;

  [[nodiscard]] size_t size_rows() const { return address.size(); }
};

struct SegmentTable {
  explicit SegmentTable(Budget& budget);

  Column<int32_t> device;  // -1 in host_segments
  Column<uint64_t> address;
  Column<int64_t> total_size;
  Column<int64_t> allocated_size;  // as written; kUnknownSize = absent
  Column<int64_t> active_size;
  Column<int64_t> requested_size;
  Column<StreamId> stream;
  Column<PoolId> pool;
  Column<SegmentType> type;
  Column<Tristate> expandable;
  Column<StackId> stack;
  Column<StringId> metadata;
  Column<RowRange> blocks;  // rows of BlockTable, ascending addresses

  [[nodiscard]] size_t size_rows() const { return device.size(); }
};

struct AnnotationTable {
  explicit AnnotationTable(Budget& budget);

  Column<StringId> name;
  Column<Stage> stage;
  Column<int32_t> device;
  Column<int64_t> time_us;

  [[nodiscard]] size_t size_rows() const { return name.size(); }
};

enum class Owner : uint8_t { part, segment, block, event, annotation };

// Keys this program has no column for, kept as JSON text. Also rare known ones: an event's
// `forward_frames` (joined text, not JSON), `category`, `internal_metadata`, `cpp_frames`. Sorted by
// (owner, row) once the recording is sealed.
struct ExtraTable {
  explicit ExtraTable(Budget& budget);

  Column<Owner> owner;
  Column<int32_t> row;
  Column<StringId> key;
  Column<StringId> value;

  [[nodiscard]] size_t size_rows() const { return owner.size(); }
};

}  // namespace memstrata::model
