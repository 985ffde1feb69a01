#include "engine/analysis/categories/trace_lives.h"

#include <algorithm>
#include <string_view>

#include "engine/analysis/categories/category_rules.h"
#include "engine/analysis/ops/op_memory.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

using model::SpanKind;

constexpr int32_t kOthers = 8;  // allocations of other threads that do not end a backward pass

// What a name says; of all spans around a record together.
enum Mark : uint8_t {
  kBackwardNode = 1,
  kOptimizerStep = 2,
  kZeroGrad = 4,
  kModule = 8,
  kCopying = 16,
  kBoundary = 32
};

// "AddmmBackward0", "torch::autograd::CopyBackwards".
[[nodiscard]] bool is_backward_node(std::string_view name) {
  if (name.starts_with("autograd::engine::evaluate_function")) return true;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name.ends_with("Backward") || name.ends_with("Backwards");
}

[[nodiscard]] uint8_t marks_of(std::string_view name, SpanKind kind) {
  switch (kind) {
    case SpanKind::op:
      if (is_backward_node(name)) return kBackwardNode;
      return name == "aten::to" || name == "aten::_to_copy" || name == "aten::copy_" ? kCopying : 0;
    case SpanKind::annotation:
      if (name.starts_with("Optimizer.step")) return kOptimizerStep | kBoundary;
      if (name.starts_with("Optimizer.zero_grad")) return kZeroGrad | kBoundary;
      return name.starts_with("Optimizer.") || name.starts_with("ProfilerStep#") ? kBoundary : 0;
    case SpanKind::python:
      return name.starts_with("nn.Module:") ? kModule : 0;
    default:
      return 0;
  }
}

class TraceLives {
 public:
  TraceLives(const model::Recording& recording, const model::Part& part, const replay::BlockLives& lives)
      : rec_(recording), spans_(recording.spans), part_(part), lives_(lives) {}

  [[nodiscard]] bool run(Column<uint32_t>& conditions) {
    for (const model::DeviceTrace& trace : part_.traces) {
      if (trace.events.first == lives_.events.first && trace.events.count == lives_.events.count)
        first_record_ = trace.first_record;
    }
    if (first_record_ < 0 || part_.spans.count == 0) return true;
    if (!mark_spans() || !find_hosts() || !find_passes() || !conditions.resize(lives_.size.size(), 0))
      return false;
    for (int32_t rank = 0; rank < lives_.count(); ++rank) conditions[rank] = conditions_of(rank);
    return true;
  }

 private:
  // From its first record to its last.
  struct Pass {
    int32_t first, last;
  };

  [[nodiscard]] static size_t at(int32_t row) { return static_cast<size_t>(row); }
  [[nodiscard]] int32_t of_span(const Column<int32_t>& column, int32_t span) const {
    return span < 0 ? -1 : column[at(span)];
  }

  // Spans lie behind those that they began in.
  [[nodiscard]] bool mark_spans() {
    const size_t count = spans_.size_rows();
    if (!marks_.resize(count, 0) || !outermost_.resize(count, -1) || !step_.resize(count, -1) ||
        !copying_.resize(count, -1) || !copies_.resize(count + 1, 0))
      return false;
    int32_t copies = 0;
    for (size_t i = 0; i < count; ++i) {
      const auto row = static_cast<int32_t>(i);
      const SpanKind kind = spans_.kind[i];
      const std::string_view name = rec_.strings.view(spans_.name[i]);
      const int32_t parent = spans_.parent[i] < row ? spans_.parent[i] : -1;
      const uint8_t own = marks_of(name, kind);
      marks_[i] = own | (parent < 0 ? 0 : marks_[at(parent)]);
      outermost_[i] = of_span(outermost_, parent);
      if (outermost_[i] < 0 && kind == SpanKind::op) outermost_[i] = row;
      step_[i] = of_span(step_, parent);
      if (step_[i] < 0 && (own & kOptimizerStep) != 0) step_[i] = row;
      copying_[i] = of_span(copying_, parent);
      if (copying_[i] < 0 && (own & kCopying) != 0) copying_[i] = row;
      if ((own & kBoundary) != 0 && !boundaries_.push_back(spans_.start[i])) return false;
      copies_[i] = copies;
      copies += kind == SpanKind::runtime && name.find("Memcpy") != std::string_view::npos ? 1 : 0;
    }
    copies_[count] = copies;
    std::sort(boundaries_.data(), boundaries_.data() + boundaries_.size());
    return true;
  }

  // Threads whose outermost ops are backward nodes, all of them.
  [[nodiscard]] bool find_hosts() {
    constexpr uint8_t kNodes = 1, kOther = 2;
    if (!hosts_.resize(rec_.threads.size_rows(), 0)) return false;
    for (size_t i = 0; i < spans_.size_rows(); ++i) {
      if (outermost_[i] == static_cast<int32_t>(i))
        hosts_[at(spans_.thread[i])] |= is_backward_node(rec_.strings.view(spans_.name[i])) ? kNodes : kOther;
    }
    for (uint8_t& thread : hosts_.span()) thread = thread == kNodes ? 1 : 0;
    return true;
  }

  [[nodiscard]] int32_t op_of(int32_t event) const { return rec_.records.op[at(first_record_ + event)]; }
  [[nodiscard]] int32_t thread_of(int32_t event) const {
    return rec_.records.thread[at(first_record_ + event)];
  }
  [[nodiscard]] int64_t time_of(int32_t event) const {
    return rec_.events.time[at(lives_.events.first + event)];
  }
  [[nodiscard]] uint8_t marks_at(int32_t event) const {
    const int32_t op = op_of(event);
    return op < 0 ? 0 : marks_[at(op)];
  }
  [[nodiscard]] bool is_backward(int32_t event) const {
    return (marks_at(event) & kBackwardNode) != 0 || hosts_[at(thread_of(event))] != 0;
  }

  [[nodiscard]] bool find_passes() {
    const int64_t* boundary = boundaries_.begin();
    bool is_over = true;
    int32_t others = 0;
    for (int32_t event = 0; event < lives_.events.count; ++event) {
      const trace::Action action = rec_.events.action[at(lives_.events.first + event)];
      if (action == trace::Action::oom) continue;
      if (!is_backward(event)) {
        if (action == trace::Action::alloc && !is_over)
          is_over = thread_of(event) == thread_of(passes_.back().last) || ++others > kOthers;
        continue;
      }
      while (boundary != boundaries_.end() && *boundary <= time_of(event)) {
        is_over |= !passes_.empty() && *boundary > time_of(passes_.back().last);
        ++boundary;
      }
      if (is_over && !passes_.push_back({event, event})) return false;
      passes_.back().last = event;
      is_over = false;
      others = 0;
    }
    return true;
  }

  // Does the op call a copy of the runtime's?
  [[nodiscard]] bool calls_copy(int32_t op) const {
    const int64_t end = saturated_sum(spans_.start[at(op)], std::max<int64_t>(spans_.duration[at(op)], 0));
    const auto* const starts = spans_.start.begin();
    const auto behind = [&](size_t row) {
      return spans_.thread[row] != spans_.thread[at(op)] || starts[row] >= end;
    };
    size_t low = at(op) + 1, high = spans_.size_rows();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (behind(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return copies_[low] > copies_[at(op)];
  }

  [[nodiscard]] uint32_t conditions_of(int32_t rank) const {
    const int32_t born = lives_.born[rank], freed = lives_.freed[rank];
    if (born < 0) return kBeforeRecording;
    uint32_t found = 0;
    const bool is_freed = freed < lives_.events.count;
    const int32_t op = op_of(born), freeing = is_freed ? op_of(freed) : -1;
    const int32_t outermost = of_span(outermost_, op), step = of_span(step_, op);
    if (outermost >= 0 && is_freed && of_span(outermost_, freeing) == outermost) found |= kInOneOp;
    if (step >= 0) {
      const int64_t end =
          saturated_sum(spans_.start[at(step)], std::max<int64_t>(spans_.duration[at(step)], 0));
      found |= kInOptimizer;
      found |= is_freed && time_of(freed) < end ? kFreedInOptimizer : kOutlivesOptimizer;
    }
    if (is_freed && (marks_at(freed) & kZeroGrad) != 0) found |= kFreedInZeroGrad;
    // The first pass that does not end before the block is made, and the one in which it is freed.
    const Pass* const pass = pass_until(born);
    if (is_backward(born)) {
      found |= kInBackward;
      found |=
          is_freed && pass != passes_.end() && freed <= pass->last ? kFreedInBackward : kOutlivesBackward;
    } else if (is_freed && step < 0) {
      const Pass* const last = pass_until(freed);
      if (last != passes_.end() && last->first <= freed && last->first > born) found |= kFreedInLaterBackward;
    }
    if (passes_.empty() || born < passes_[0].first) found |= kBeforeBackward;
    const int32_t copying = of_span(copying_, op);
    if (copying >= 0 && (marks_at(born) & kModule) == 0 && calls_copy(copying) &&
        device_name(part_, lives_.device) != "cpu")
      found |= kFromHost;
    return found;
  }
  [[nodiscard]] const Pass* pass_until(int32_t event) const {
    return std::lower_bound(passes_.begin(), passes_.end(), event,
                            [](const Pass& one, int32_t wanted) { return one.last < wanted; });
  }

  const model::Recording& rec_;
  const model::SpanTable& spans_;
  const model::Part& part_;
  const replay::BlockLives& lives_;
  int32_t first_record_ = -1;
  // Per span.
  Column<uint8_t> marks_{rec_.budget};  // its own and those of all around it
  Column<int32_t> outermost_{rec_.budget}, step_{rec_.budget},
      copying_{rec_.budget};                 // op, Optimizer.step, op that copies around it; -1 = none
  Column<int32_t> copies_{rec_.budget};      // copies of the runtime's in the spans before it
  Column<int64_t> boundaries_{rec_.budget};  // times at which a backward pass is over, ascending
  Column<uint8_t> hosts_{rec_.budget};       // per thread
  Column<Pass> passes_{rec_.budget};         // ascending
};

}  // namespace

bool find_trace_lives(const model::Recording& recording, const model::Part& part,
                      const replay::BlockLives& lives, Column<uint32_t>& conditions) {
  return TraceLives(recording, part, lives).run(conditions);
}

}  // namespace gpustrata::analysis
