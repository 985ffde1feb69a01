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
// Words of profilers' traces:
//   span             something that began and ended on a thread: an op, an annotation, a Python function.
//   memory record    what the profiler saw of one allocation or free; a row of EventTable like any other, and
//                    a row of RecordTable with what allocators do not say.
//
// Each table is a struct of columns of equal length (table.h); rows are appended by readers only. Sizes are
// int64 bytes >= 0, addresses uint64, times int64 ticks of the clock of their part (clock.h), as the file has
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/base/packed_column.h"
#include "engine/base/words.h"
#include "engine/model/clock.h"
#include "engine/model/table.h"
#include "engine/trace/action.h"

namespace gpustrata::model {

inline constexpr int64_t kUnknownSize = -1;
inline constexpr uint64_t kUnknownFree = UINT64_MAX;                      // of an oom event
inline constexpr int64_t kNoValue = std::numeric_limits<int64_t>::min();  // of a point

GPUSTRATA_WORDS(BlockState, active_allocated, active_pending_free, inactive, unknown);
enum class SegmentType : uint8_t { unknown, small, large };
enum class Tristate : uint8_t { unknown, no, yes };
enum class Stage : uint8_t { unknown, start, end };

struct EventTable : Table<EventTable> {
  using Table::Table;

  Column<trace::Action> action{budget()};
  Column<uint64_t> address{budget()};         // oom: the device's free bytes, see device_free()
  PackedColumn<int64_t> size{budget()};       // alloc, free_*: requested; segment_*: real; oom: rounded
  PackedColumn<int64_t> time{budget()};       // kNoTime = absent
  Column<StackId> stack{budget()};            // none = key absent
  PackedColumn<StringId> context{budget()};   // compile_context; none = absent
  PackedColumn<StringId> metadata{budget()};  // user_metadata, text or JSON text; none = absent
  PackedColumn<StreamId> stream{budget()};
  PackedColumn<PoolId> pool{budget()};  // none = absent (before 2026)

  struct Row {
    trace::Action action = trace::Action::first_unknown;
    uint64_t address = 0;
    int64_t size = 0;
    int64_t time = kNoTime;
    StackId stack{};
    StringId context{};
    StringId metadata{};
    StreamId stream{int16_t{0}};
    PoolId pool{};
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = EventTable;
    return std::tuple(Field{&T::action, &Row::action}, Field{&T::address, &Row::address},
                      Field{&T::size, &Row::size}, Field{&T::time, &Row::time}, Field{&T::stack, &Row::stack},
                      Field{&T::context, &Row::context}, Field{&T::metadata, &Row::metadata},
                      Field{&T::stream, &Row::stream}, Field{&T::pool, &Row::pool});
  }
};

// Of an oom event: what the driver said was free on the device, cut to 63 bits; none = the file does not say.
[[nodiscard]] inline std::optional<int64_t> device_free(const EventTable& events, size_t row) {
  const uint64_t bytes = events.address[row];
  if (bytes == kUnknownFree) return std::nullopt;
  return static_cast<int64_t>(std::min(bytes, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}

struct BlockTable : Table<BlockTable> {
  using Table::Table;

  Column<uint64_t> address{budget()};  // filled in from the segment where the file has none
  Column<int64_t> size{budget()};
  Column<int64_t> requested_size{budget()};  // kUnknownSize = absent; stale on inactive blocks
  Column<BlockState> state{budget()};
  Column<StackId> stack{budget()};  // none = no frames and no history
  Column<StringId> metadata{budget()};
  Column<RowRange> history{budget()};  // rows of HistoryTable (files of 2022-23)

  struct Row {
    uint64_t address = 0;
    int64_t size = 0;
    int64_t requested_size = kUnknownSize;
    BlockState state = BlockState::unknown;
    StackId stack{};
    StringId metadata{};
    RowRange history{};
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = BlockTable;
    return std::tuple(Field{&T::address, &Row::address}, Field{&T::size, &Row::size},
                      Field{&T::requested_size, &Row::requested_size}, Field{&T::state, &Row::state},
                      Field{&T::stack, &Row::stack}, Field{&T::metadata, &Row::metadata},
                      Field{&T::history, &Row::history});
  }
};

// Past allocations inside a block (block `history` of 2022-23), as in the file.
struct HistoryTable : Table<HistoryTable> {
  using Table::Table;

  Column<uint64_t> address{budget()};
  Column<int64_t> real_size{budget()};  // requested bytes
  Column<StackId> stack{budget()};

  struct Row {
    uint64_t address = 0;
    int64_t real_size = 0;
    StackId stack{};
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = HistoryTable;
    return std::tuple(Field{&T::address, &Row::address}, Field{&T::real_size, &Row::real_size},
                      Field{&T::stack, &Row::stack});
  }
};

struct SegmentTable : Table<SegmentTable> {
  using Table::Table;

  Column<int32_t> device{budget()};  // -1 in host_segments
  Column<uint64_t> address{budget()};
  Column<int64_t> total_size{budget()};
  Column<int64_t> allocated_size{budget()};  // as written; kUnknownSize = absent
  Column<int64_t> active_size{budget()};
  Column<int64_t> requested_size{budget()};
  Column<StreamId> stream{budget()};
  Column<PoolId> pool{budget()};
  Column<SegmentType> type{budget()};
  Column<Tristate> expandable{budget()};
  Column<StackId> stack{budget()};
  Column<StringId> metadata{budget()};
  Column<RowRange> blocks{budget()};  // rows of BlockTable, ascending addresses

  struct Row {
    int32_t device = 0;
    uint64_t address = 0;
    int64_t total_size = 0;
    int64_t allocated_size = kUnknownSize;
    int64_t active_size = kUnknownSize;
    int64_t requested_size = kUnknownSize;
    StreamId stream{int16_t{0}};
    PoolId pool{};
    SegmentType type = SegmentType::unknown;
    Tristate expandable = Tristate::unknown;
    StackId stack{};
    StringId metadata{};
    RowRange blocks{};
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = SegmentTable;
    return std::tuple(
        Field{&T::device, &Row::device}, Field{&T::address, &Row::address},
        Field{&T::total_size, &Row::total_size}, Field{&T::allocated_size, &Row::allocated_size},
        Field{&T::active_size, &Row::active_size}, Field{&T::requested_size, &Row::requested_size},
        Field{&T::stream, &Row::stream}, Field{&T::pool, &Row::pool}, Field{&T::type, &Row::type},
        Field{&T::expandable, &Row::expandable}, Field{&T::stack, &Row::stack},
        Field{&T::metadata, &Row::metadata}, Field{&T::blocks, &Row::blocks});
  }
};

struct AnnotationTable : Table<AnnotationTable> {
  using Table::Table;

  Column<StringId> name{budget()};
  Column<Stage> stage{budget()};
  Column<int32_t> device{budget()};
  Column<int64_t> time{budget()};

  struct Row {
    StringId name{};
    Stage stage = Stage::unknown;
    int32_t device = 0;
    int64_t time = kNoTime;
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = AnnotationTable;
    return std::tuple(Field{&T::name, &Row::name}, Field{&T::stage, &Row::stage},
                      Field{&T::device, &Row::device}, Field{&T::time, &Row::time});
  }
};

// The device of what is not said to be on any.
inline constexpr int32_t kUnknownDevice = std::numeric_limits<int32_t>::min();

// Numbers over time of one thing: "allocated" of a device, the bytes of a category. Values of what falls and rises
// are levels, never changes.
enum class Unit : uint8_t { bytes, nanoseconds };

struct SeriesTable : Table<SeriesTable> {
  using Table::Table;

  Column<StringId> name{budget()};
  Column<int32_t> device{budget()};   // -1 = the host, kUnknownDevice
  Column<RowRange> points{budget()};  // rows of PointTable, in order of time
  Column<Unit> unit{budget()};        // of their values

  struct Row {
    StringId name{};
    int32_t device = kUnknownDevice;
    RowRange points{};
    Unit unit = Unit::bytes;
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = SeriesTable;
    return std::tuple(Field{&T::name, &Row::name}, Field{&T::device, &Row::device},
                      Field{&T::points, &Row::points}, Field{&T::unit, &Row::unit});
  }
};

struct PointTable : Table<PointTable> {
  using Table::Table;

  Column<int64_t> time{budget()};    // ticks; in a part without a clock the number of a step, ascending
  Column<int64_t> value{budget()};   // in the unit of its series; a point without one is a mark at its time
  Column<StringId> label{budget()};  // what happened then: an operator, a kind of event; none = nothing said
  Column<StringId> note{budget()};   // a sentence about it; none = nothing said

  struct Row {
    int64_t time = kNoTime;
    int64_t value = kNoValue;
    StringId label{};
    StringId note{};
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = PointTable;
    return std::tuple(Field{&T::time, &Row::time}, Field{&T::value, &Row::value},
                      Field{&T::label, &Row::label}, Field{&T::note, &Row::note});
  }
};

// What a span is, as far as attribution needs to know.
enum class SpanKind : uint8_t {
  op,          // call of an operator, or a node of autograd
  annotation,  // a range that the program named on the host (record_function, ProfilerStep)
  python,      // call of a Python function or module
  runtime,     // call of the driver or its runtime on the host
  device,      // kernel, copy or range on the device
  other,
};

// Sorted by (thread, start, longest first, place in the file): what begins inside a span comes behind it.
struct SpanTable : Table<SpanTable> {
  using Table::Table;

  Column<StringId> name{budget()};
  Column<StringId> category{budget()};  // as written: "cpu_op", "kernel"; none = absent
  Column<SpanKind> kind{budget()};
  Column<int32_t> thread{budget()};    // row of ThreadTable
  Column<int64_t> start{budget()};     // ticks
  Column<int64_t> duration{budget()};  // ticks; 0 is a moment, below 0 (a broken file) holds nothing
  Column<int32_t> parent{budget()};    // row of the innermost span of the thread that it began in, -1 = none
  Column<StringId> shapes{budget()};   // `Input Dims` as JSON text; none = absent
  Column<StringId> calls{budget()};    // `Call stack`, frames innermost first between ";"; none = absent
  Column<StringId> module{budget()};   // `Module Hierarchy`; none = absent
  Column<int32_t> step{budget()};      // N of the ProfilerStep#N it began in, on any thread; -1 = none

  struct Row {
    StringId name{};
    StringId category{};
    SpanKind kind = SpanKind::other;
    int32_t thread = 0;
    int64_t start = 0;
    int64_t duration = 0;
    int32_t parent = -1;
    StringId shapes{};
    StringId calls{};
    StringId module{};
    int32_t step = -1;
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = SpanTable;
    return std::tuple(
        Field{&T::name, &Row::name}, Field{&T::category, &Row::category}, Field{&T::kind, &Row::kind},
        Field{&T::thread, &Row::thread}, Field{&T::start, &Row::start}, Field{&T::duration, &Row::duration},
        Field{&T::parent, &Row::parent}, Field{&T::shapes, &Row::shapes}, Field{&T::calls, &Row::calls},
        Field{&T::module, &Row::module}, Field{&T::step, &Row::step});
  }
};

// Threads of processes, and streams of devices, as traces name them. Numbers and texts are the same here.
struct ThreadTable : Table<ThreadTable> {
  using Table::Table;

  Column<StringId> process{budget()};  // `pid`; none = absent
  Column<StringId> id{budget()};       // `tid`; none = absent
  Column<StringId> name{budget()};     // none = absent

  struct Row {
    StringId process{};
    StringId id{};
    StringId name{};
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = ThreadTable;
    return std::tuple(Field{&T::process, &Row::process}, Field{&T::id, &Row::id},
                      Field{&T::name, &Row::name});
  }
};

// What a profiler knows of an allocation or free besides its event (DeviceTrace::first_record).
struct RecordTable : Table<RecordTable> {
  using Table::Table;

  Column<int32_t> thread{budget()};           // row of ThreadTable
  Column<int32_t> op{budget()};               // row of SpanTable: the innermost op or annotation, -1 = none
  Column<int64_t> total_allocated{budget()};  // of the device, after it; kUnknownSize = absent
  Column<int64_t> total_reserved{budget()};   // the same

  struct Row {
    int32_t thread = 0;
    int32_t op = -1;
    int64_t total_allocated = kUnknownSize;
    int64_t total_reserved = kUnknownSize;
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = RecordTable;
    return std::tuple(Field{&T::thread, &Row::thread}, Field{&T::op, &Row::op},
                      Field{&T::total_allocated, &Row::total_allocated},
                      Field{&T::total_reserved, &Row::total_reserved});
  }
};

enum class Owner : uint8_t { part, segment, block, event, annotation, point };
inline constexpr size_t kOwners = static_cast<size_t>(Owner::point) + 1;

// Keys this program has no column for, kept as JSON text. Also rare known ones: an event's
// `forward_frames` (joined text, not JSON), `category`, `internal_metadata`, `cpp_frames`. Sorted by
// (owner, row) once the recording is sealed.
struct ExtraTable : Table<ExtraTable> {
  using Table::Table;

  Column<Owner> owner{budget()};
  Column<int32_t> row{budget()};
  Column<StringId> key{budget()};
  Column<StringId> value{budget()};

  struct Row {
    Owner owner = Owner::part;
    int32_t row = 0;
    StringId key{};
    StringId value{};
  };
  [[nodiscard]] static constexpr auto columns() {
    using T = ExtraTable;
    return std::tuple(Field{&T::owner, &Row::owner}, Field{&T::row, &Row::row}, Field{&T::key, &Row::key},
                      Field{&T::value, &Row::value});
  }
};

}  // namespace gpustrata::model
