#include "engine/replay/attached_ops.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "engine/base/saturating.h"

namespace memstrata::replay {

using model::RowRange;
using trace::Action;

namespace {

constexpr int64_t kNanosecondsPerMicrosecond = 1000;
constexpr int64_t kNearRecord = 1'000'000;  // ns
constexpr size_t kMostOpFrames = 1000;

// An allocation that the trace tells of, too.
struct KnownAllocation {
  int32_t device;
  uint64_t address;
  int64_t time_ns;
  int32_t op;

  [[nodiscard]] auto place() const { return std::tuple(device, address, time_ns); }
};

[[nodiscard]] std::optional<int64_t> moved(const std::optional<int64_t>& ns, int64_t offset_us) {
  int64_t offset = 0, sum = 0;
  if (!ns || __builtin_mul_overflow(offset_us, kNanosecondsPerMicrosecond, &offset) ||
      __builtin_add_overflow(*ns, offset, &sum)) {
    return std::nullopt;
  }
  return sum;
}

class Attaching {
 public:
  Attaching(model::Recording& snapshot, const model::Recording& trace, const AttachWanted& wanted)
      : snapshot_(snapshot), trace_(trace), wanted_(wanted), known_(snapshot.budget) {}

  [[nodiscard]] Result<AttachedOps> run() {
    const model::Part* ops = nullptr;
    for (const model::Part& part : trace_.parts) {
      if (part.kind == model::PartKind::trace && part.spans.count > 0 && ops == nullptr) ops = &part;
    }
    if (ops != nullptr) {
      auto made = SpanLanes::make(trace_, *ops, nullptr);
      if (!made) return tl::unexpected(made.error());
      lanes_.emplace(std::move(*made));
    }
    if (!lanes_ || lanes_->threads().empty())
      return fail(ErrorCode::wrong_usage, -1,
                  "The file that is named with --with is no profiler's trace with ops.");
    clock_ = ops->clock;
    for (int32_t place = 0; place < static_cast<int32_t>(lanes_->order().size()); ++place) {
      const auto first = clock_.nanoseconds(lanes_->start_of(place));
      const auto last = clock_.nanoseconds(lanes_->end_of(place));
      if (first && (!found_.first_op_ns || *first < *found_.first_op_ns)) found_.first_op_ns = first;
      if (last && (!found_.last_op_ns || *last > *found_.last_op_ns)) found_.last_op_ns = last;
    }
    if (!collect_known()) return no_memory();
    no_file_ = snapshot_.strings.intern("");
    if (no_file_.is_none()) return no_memory();
    bool is_snapshot = false;
    for (model::Part& part : snapshot_.parts) {
      if (part.kind != model::PartKind::snapshot) continue;
      is_snapshot = true;
      const int64_t before = found_.by_record + found_.by_time;
      for (const model::DeviceTrace& device : part.traces) {
        if (!attach(part, device)) return no_memory();
      }
      part.capabilities.stacks |= found_.by_record + found_.by_time > before;
    }
    // Blocks of the final state have stacks of their own.
    for (size_t block = 0; wanted_.ops_only && block < snapshot_.blocks.size_rows(); ++block)
      snapshot_.blocks.stack[block] = {};
    if (!is_snapshot || found_.allocations == 0)
      return fail(ErrorCode::wrong_usage, -1, "There are no allocations that ops could be found for.");
    return found_;
  }

 private:
  [[nodiscard]] static tl::unexpected<Error> no_memory() {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to find the op of every allocation");
  }

  // Allocations on devices of the kind that snapshots tell of: not on the host.
  [[nodiscard]] bool collect_known() {
    for (const model::Part& part : trace_.parts) {
      if (part.kind != model::PartKind::trace || part.name == "cpu") continue;
      for (const model::DeviceTrace& device : part.traces) {
        if (device.first_record < 0) continue;
        for (int32_t i = 0; i < device.events.count; ++i) {
          const auto event = static_cast<size_t>(device.events.first + i);
          if (trace_.events.action[event] != Action::alloc) continue;
          const int32_t op = trace_.records.op[device.first_record + i];
          const auto ns = part.clock.nanoseconds(trace_.events.time[event]);
          if (op < 0 || !ns) continue;
          if (!known_.push_back({device.device, trace_.events.address[event], *ns, op})) return false;
        }
      }
    }
    std::sort(known_.data(), known_.data() + known_.size(),
              [](const KnownAllocation& a, const KnownAllocation& b) { return a.place() < b.place(); });
    return true;
  }

  [[nodiscard]] int32_t op_of_record(int32_t device, uint64_t address, int64_t ns) const {
    const KnownAllocation from{device, address, saturated_difference(ns, kNearRecord), -1};
    const KnownAllocation* one = std::lower_bound(
        known_.begin(), known_.end(), from,
        [](const KnownAllocation& a, const KnownAllocation& b) { return a.place() < b.place(); });
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

  // -1 = none, -2 = one on each of several threads.
  [[nodiscard]] int32_t op_at(int64_t ns) const {
    int64_t since = 0;
    if (__builtin_sub_overflow(ns, clock_.base_ns, &since)) return -1;
    int32_t op = -1;
    for (const SpanLanes::Thread& thread : lanes_->threads()) {
      const int32_t innermost = innermost_op(*lanes_, thread, since / clock_.tick_ns);
      if (innermost < 0) continue;
      if (op >= 0) return -2;
      op = innermost;
    }
    return op;
  }

  [[nodiscard]] bool attach(const model::Part& part, const model::DeviceTrace& device) {
    model::EventTable& events = snapshot_.events;
    for (int32_t i = 0; i < device.events.count; ++i) {
      const auto event = static_cast<size_t>(device.events.first + i);
      if (events.action[event] != Action::alloc) continue;
      ++found_.allocations;
      const int32_t op = find_op(part, device.device, event);
      if (op < 0 && wanted_.ops_only) events.stack[event] = {};
      if (op < 0) continue;
      const StackId stack = stack_of(op, events.stack[event]);
      if (stack.is_none()) return false;
      events.stack[event] = stack;
    }
    return true;
  }

  [[nodiscard]] int32_t find_op(const model::Part& part, int32_t device, size_t event) {
    const auto ns = moved(part.clock.nanoseconds(snapshot_.events.time[event]), wanted_.offset_us);
    if (!ns) {
      ++found_.without_time;
      return -1;
    }
    found_.first_allocation_ns = std::min(found_.first_allocation_ns.value_or(*ns), *ns);
    found_.last_allocation_ns = std::max(found_.last_allocation_ns.value_or(*ns), *ns);
    if (const int32_t op = op_of_record(device, snapshot_.events.address[event], *ns); op >= 0) {
      ++found_.by_record;
      return op;
    }
    // It happened in the microsecond from its time on: the middle is least far from it.
    const int32_t op = op_at(saturated_sum(*ns, kNanosecondsPerMicrosecond / 2));
    if (op >= 0) {
      ++found_.by_time;
    } else if (op == -2) {
      ++found_.on_several_threads;
    } else if (*ns < found_.first_op_ns || *ns >= found_.last_op_ns) {
      ++found_.outside;
    } else {
      ++found_.in_no_op;
    }
    return op;
  }

  [[nodiscard]] StackId stack_of(int32_t op, StackId own) {
    if (op == last_op_ && own == last_own_) return last_;
    const model::SpanTable& spans = trace_.spans;
    frames_.clear();
    for (int32_t row = op; row >= 0 && frames_.size() < kMostOpFrames; row = spans.parent[row]) {
      const model::SpanKind kind = spans.kind[row];
      if (kind != model::SpanKind::op && kind != model::SpanKind::annotation) continue;
      const StringId name = spans.name[row];
      const StringId known = name.is_none() ? no_file_ : snapshot_.strings.intern(trace_.strings.view(name));
      if (known.is_none()) return {};
      const FrameId frame = snapshot_.frames.intern({known, no_file_, 0});
      if (frame.is_none()) return {};
      frames_.push_back(frame);
    }
    if (!own.is_none() && !wanted_.ops_only) {
      const std::vector<FrameId> rest = snapshot_.stacks.frames_of(own);
      frames_.insert(frames_.end(), rest.begin(), rest.end());
    }
    last_op_ = op;
    last_own_ = own;
    return last_ = snapshot_.stacks.intern(frames_);
  }

  model::Recording& snapshot_;
  const model::Recording& trace_;
  AttachWanted wanted_;
  std::optional<SpanLanes> lanes_;
  model::Clock clock_;
  Column<KnownAllocation> known_;
  StringId no_file_;
  AttachedOps found_;
  std::vector<FrameId> frames_;
  int32_t last_op_ = -1;
  StackId last_own_, last_;
};

}  // namespace

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

Result<AttachedOps> attach_ops(model::Recording& snapshot, const model::Recording& trace,
                               const AttachWanted& wanted) {
  return Attaching(snapshot, trace, wanted).run();
}

}  // namespace memstrata::replay
