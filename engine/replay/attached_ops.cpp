#include "engine/replay/attached_ops.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/replay/op_finder.h"

namespace gpustrata::replay {

using trace::Action;

namespace {

constexpr int64_t kNanosecondsPerMicrosecond = 1000;
constexpr size_t kMostOpFrames = 1000;

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
      : snapshot_(snapshot), trace_(trace), wanted_(wanted) {}

  [[nodiscard]] Result<AttachedOps> run() {
    auto finder = OpFinder::make(trace_);
    if (!finder && finder.error().code == ErrorCode::wrong_usage)
      return fail(ErrorCode::wrong_usage, -1,
                  "The file that is named with --with is no profiler's trace with ops.");
    if (!finder) return tl::unexpected(finder.error());
    finder_.emplace(std::move(*finder));
    found_.first_op_ns = finder_->first_op_ns();
    found_.last_op_ns = finder_->last_op_ns();
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
    const auto [op, how] = finder_->find(device, snapshot_.events.address[event], *ns);
    switch (how) {
      case OpFinder::How::record:
        ++found_.by_record;
        break;
      case OpFinder::How::time:
        ++found_.by_time;
        break;
      case OpFinder::How::several_threads:
        ++found_.on_several_threads;
        break;
      case OpFinder::How::no_op:
        ++found_.in_no_op;
        break;
      case OpFinder::How::outside:
        ++found_.outside;
        break;
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
  std::optional<OpFinder> finder_;
  StringId no_file_;
  AttachedOps found_;
  std::vector<FrameId> frames_;
  int32_t last_op_ = -1;
  StackId last_own_, last_;
};

}  // namespace

Result<AttachedOps> attach_ops(model::Recording& snapshot, const model::Recording& trace,
                               const AttachWanted& wanted) {
  return Attaching(snapshot, trace, wanted).run();
}

}  // namespace gpustrata::replay
