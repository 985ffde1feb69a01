#include "engine/replay/op_finder.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/base/saturating.h"

namespace gpustrata::replay {

using model::RowRange;
using trace::Action;

namespace {

constexpr int64_t kNanosecondsOfAMicrosecond = 1000;
constexpr int64_t kNearRecord = 1'000'000;  // ns

}  // namespace

bool OpFinder::is_before(const KnownAllocation& a, const KnownAllocation& b) {
  return std::tuple(a.device, a.address, a.time_ns) < std::tuple(b.device, b.address, b.time_ns);
}

Result<OpFinder> OpFinder::make(const model::Recording& trace) {
  const model::Part* ops = nullptr;
  for (const model::Part& part : trace.parts) {
    if (part.kind == model::PartKind::trace && part.spans.count > 0 && ops == nullptr) ops = &part;
  }
  if (ops == nullptr) return fail(ErrorCode::wrong_usage, -1, "This is no profiler's trace with ops.");
  auto lanes = SpanLanes::make(trace, *ops, nullptr);
  if (!lanes) return tl::unexpected(lanes.error());
  if (lanes->threads().empty())
    return fail(ErrorCode::wrong_usage, -1, "This is no profiler's trace with ops.");
  OpFinder finder(std::move(*lanes), ops->clock, trace.budget);
  for (int32_t place = 0; place < static_cast<int32_t>(finder.lanes_.order().size()); ++place) {
    const auto first = finder.clock_.nanoseconds(finder.lanes_.start_of(place));
    const auto last = finder.clock_.nanoseconds(finder.lanes_.end_of(place));
    if (first && (!finder.first_op_ns_ || *first < *finder.first_op_ns_)) finder.first_op_ns_ = first;
    if (last && (!finder.last_op_ns_ || *last > *finder.last_op_ns_)) finder.last_op_ns_ = last;
  }
  if (!finder.collect_known(trace))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to find the op of every allocation");
  return finder;
}

// Allocations on devices of the kind that snapshots tell of: not on the host.
bool OpFinder::collect_known(const model::Recording& trace) {
  for (const model::Part& part : trace.parts) {
    if (part.kind != model::PartKind::trace || part.name == "cpu") continue;
    for (const model::DeviceTrace& device : part.traces) {
      if (device.first_record < 0) continue;
      for (int32_t i = 0; i < device.events.count; ++i) {
        const auto event = static_cast<size_t>(device.events.first + i);
        if (trace.events.action[event] != Action::alloc) continue;
        const int32_t op = trace.records.op[device.first_record + i];
        const auto ns = part.clock.nanoseconds(trace.events.time[event]);
        if (op < 0 || !ns) continue;
        if (!known_.push_back({device.device, trace.events.address[event], *ns, op})) return false;
      }
    }
  }
  std::sort(known_.data(), known_.data() + known_.size(), is_before);
  return true;
}

int32_t OpFinder::op_of_record(int32_t device, uint64_t address, int64_t ns) const {
  const KnownAllocation from{device, address, saturated_difference(ns, kNearRecord), -1};
  const KnownAllocation* one = std::lower_bound(known_.begin(), known_.end(), from, is_before);
  const int64_t last = saturated_sum(ns, kNearRecord);
  int32_t op = -1;
  int64_t nearest = kNearRecord;
  for (; one != known_.end() && one->device == device && one->address == address && one->time_ns <= last;
       ++one) {
    const int64_t distance = one->time_ns < ns ? ns - one->time_ns : one->time_ns - ns;
    if (op >= 0 && distance > nearest) break;
    op = one->op;
    nearest = distance;
  }
  return op;
}

OpFinder::Found OpFinder::at(int64_t ns) const {
  int64_t since = 0;
  if (__builtin_sub_overflow(ns, clock_.base_ns, &since)) return {-1, How::outside};
  Found found{-1, How::no_op};
  for (const SpanLanes::Thread& thread : lanes_.threads()) {
    const int32_t innermost = innermost_op(lanes_, thread, since / clock_.tick_ns);
    if (innermost < 0) continue;
    if (found.op >= 0) return {-1, How::several_threads};
    found = {innermost, How::time};
  }
  return found;
}

OpFinder::Found OpFinder::find(int32_t device, std::optional<uint64_t> address, int64_t ns) const {
  if (address) {
    if (const int32_t op = op_of_record(device, *address, ns); op >= 0) return {op, How::record};
  }
  // It happened in the microsecond from its time on: the middle is least far from it.
  Found found = at(saturated_sum(ns, kNanosecondsOfAMicrosecond / 2));
  if (found.how == How::no_op && (ns < first_op_ns_ || ns >= last_op_ns_)) found.how = How::outside;
  return found;
}

int32_t innermost_op(const SpanLanes& lanes, const SpanLanes::Thread& thread, int64_t time) {
  int32_t found = -1;
  for (int32_t row = 0; row < thread.rows; ++row) {
    const RowRange range = lanes.row(thread, row);
    const int32_t* first = lanes.order().data() + range.first;
    // The first one that begins after it; the one before is the only one that can go on.
    int32_t low = range.first, high = range.end();
    while (low < high) {
      const int32_t middle = low + (high - low) / 2;
      if (lanes.start_of(middle) <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == range.first || lanes.end_of(low - 1) <= time) continue;
    found = first[low - 1 - range.first];
  }
  return found;
}

}  // namespace gpustrata::replay
