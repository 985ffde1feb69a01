// The op of a profiler's trace in which a recording of the same run allocated something.
//
// Both have times of the same clock, of the machine's day: the recording's to a microsecond, the trace's to a nanosecond.
// An allocation belongs to the op
//   of the trace's own memory record of that device and address, if one lies within a millisecond; else
//   that was running at its time, if that was so on one thread only. Of several threads nobody knows which it was, and
//   the recording does not say.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/span_lanes.h"

namespace gpustrata::replay {

class OpFinder {
 public:
  // Of the first trace with ops; refers to the recording. O(n log n) in spans and records. Error: wrong_usage (there are no
  // ops), limit_exceeded.
  [[nodiscard]] static Result<OpFinder> make(const model::Recording& trace);

  enum class How : uint8_t { record, time, several_threads, no_op, outside };
  struct Found {
    int32_t op = -1;  // row of SpanTable; -1 = none, `how` says why
    How how = How::no_op;
  };
  // An allocation in the microsecond that begins `ns` after the Unix epoch; without an address only its time counts.
  [[nodiscard]] Found find(int32_t device, std::optional<uint64_t> address, int64_t ns) const;

  // Nanoseconds since the Unix epoch; none = nothing has a time.
  [[nodiscard]] std::optional<int64_t> first_op_ns() const { return first_op_ns_; }
  [[nodiscard]] std::optional<int64_t> last_op_ns() const { return last_op_ns_; }

 private:
  // An allocation that the trace tells of, too.
  struct KnownAllocation {
    int32_t device;
    uint64_t address;
    int64_t time_ns;
    int32_t op;
  };
  explicit OpFinder(SpanLanes&& lanes, const model::Clock& clock, Budget& budget)
      : lanes_(std::move(lanes)), clock_(clock), known_(budget) {}
  [[nodiscard]] static bool is_before(const KnownAllocation& a, const KnownAllocation& b);
  [[nodiscard]] bool collect_known(const model::Recording& trace);
  [[nodiscard]] int32_t op_of_record(int32_t device, uint64_t address, int64_t ns) const;
  [[nodiscard]] Found at(int64_t ns) const;

  SpanLanes lanes_;
  model::Clock clock_;
  Column<KnownAllocation> known_;  // by device, address, time
  std::optional<int64_t> first_op_ns_, last_op_ns_;
};

// The op that started last of those that go on at a time, on a thread of the lanes; -1 = none.
[[nodiscard]] int32_t innermost_op(const SpanLanes& lanes, const SpanLanes::Thread& thread, int64_t time);

}  // namespace gpustrata::replay
