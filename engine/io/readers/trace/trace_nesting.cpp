#include "engine/io/readers/trace/trace_nesting.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "engine/base/saturating.h"
#include "engine/io/readers/trace/trace_order.h"
#include "engine/io/readers/trace/trace_stacks.h"

namespace gpustrata::io::traces {

using model::SpanKind;
using model::SpanTable;

namespace {

// The first moment after it. A span that ends before it begins is never open.
[[nodiscard]] int64_t end_of(const SpanTable& spans, int32_t row) {
  return saturated_sum(spans.start[row], std::max<int64_t>(spans.duration[row], 1));
}

// Spans that are open, innermost last. Those that are over are dropped when they come to the top.
class Open {
 public:
  explicit Open(Budget& budget) : rows_(budget) {}
  [[nodiscard]] int32_t innermost(const SpanTable& spans, int64_t time) {
    while (!rows_.empty() && end_of(spans, rows_.back()) <= time) rows_.pop_back();
    return rows_.empty() ? -1 : rows_.back();
  }
  [[nodiscard]] bool add(int32_t row) { return rows_.push_back(row); }
  void clear() { rows_.clear(); }

 private:
  Column<int32_t> rows_;
};

[[nodiscard]] bool find_parents(SpanTable& spans, model::RowRange rows, Budget& budget) {
  Open open(budget);
  for (int32_t row = rows.first; row < rows.end(); ++row) {
    if (row == rows.first || spans.thread[row] != spans.thread[row - 1]) open.clear();
    spans.parent[row] = open.innermost(spans, spans.start[row]);
    if (spans.duration[row] >= 0 && !open.add(row)) return false;
  }
  return true;
}

struct Step {
  int64_t start;
  int64_t end;
  int32_t number;
};

[[nodiscard]] bool find_steps(model::Recording& recording, model::RowRange rows) {
  constexpr std::string_view kStep = "ProfilerStep#";
  SpanTable& spans = recording.spans;
  Column<Step> steps(recording.budget);
  for (int32_t row = rows.first; row < rows.end(); ++row) {
    if (spans.kind[row] != SpanKind::annotation) continue;
    const std::string_view name = recording.strings.view(spans.name[row]);
    if (!name.starts_with(kStep)) continue;
    Step step{spans.start[row], end_of(spans, row), -1};
    const char* digits = name.data() + kStep.size();
    if (std::from_chars(digits, name.data() + name.size(), step.number).ec != std::errc() || step.number < 0)
      continue;
    if (!steps.push_back(step)) return false;
  }
  if (steps.empty()) return true;
  std::sort(steps.data(), steps.data() + steps.size(), [](const Step& a, const Step& b) {
    return std::tuple(a.start, a.number) < std::tuple(b.start, b.number);
  });
  for (int32_t row = rows.first; row < rows.end(); ++row) {
    const int64_t start = spans.start[row];
    const Step* step = std::upper_bound(steps.begin(), steps.end(), start,
                                        [](int64_t time, const Step& one) { return time < one.start; });
    if (step != steps.begin() && start < (--step)->end) spans.step[row] = step->number;
  }
  return true;
}

}  // namespace

bool sort_spans(model::Recording& recording, model::RowRange rows, model::RowRange threads) {
  SpanTable& spans = recording.spans;
  const auto first = static_cast<size_t>(rows.first);
  Column<uint32_t> order(recording.budget), starts(recording.budget);
  if (!all_rows(order, static_cast<size_t>(rows.count)) ||
      !group(order, static_cast<size_t>(threads.count), starts, recording.budget,
             [&](uint32_t row) { return spans.thread[first + row] - threads.first; })) {
    return false;
  }
  for (size_t thread = 0; thread < static_cast<size_t>(threads.count); ++thread) {
    sort_unless_sorted(order.data() + starts[thread], order.data() + starts[thread + 1],
                       [&](uint32_t a, uint32_t b) {
                         const size_t i = first + a, j = first + b;
                         if (spans.start[i] != spans.start[j]) return spans.start[i] < spans.start[j];
                         if (spans.duration[i] != spans.duration[j])
                           return spans.duration[i] > spans.duration[j];
                         return a < b;
                       });
  }
  const bool sorted = std::is_sorted(order.begin(), order.end());
  return (sorted || spans.reorder(first, order.span())) && find_parents(spans, rows, recording.budget) &&
         find_steps(recording, rows);
}

bool surround(model::Recording& recording, const Rows& rows, const Column<uint32_t>& by_time,
              Surroundings& found) {
  const SpanTable& spans = recording.spans;
  const model::RowRange threads = rows.threads();
  const Column<Draft>& drafts = rows.drafts;
  Column<uint32_t> order(recording.budget), starts(recording.budget);
  Open ops(recording.budget), python(recording.budget);
  Stacks stacks(recording);
  if (!order.append(by_time.span()) || !found.op.resize(drafts.size(), -1) ||
      !found.stack.resize(drafts.size(), StackId{}) ||
      !group(order, static_cast<size_t>(threads.count), starts, recording.budget,
             [&](uint32_t row) { return drafts[row].thread - threads.first; })) {
    return false;
  }
  int32_t span = rows.spans().first;
  for (int32_t thread = 0; thread < threads.count; ++thread) {
    ops.clear();
    python.clear();
    const auto is_of_thread = [&] {
      return span < rows.spans().end() && spans.thread[span] == threads.first + thread;
    };
    for (uint32_t i = starts[thread]; i < starts[thread + 1]; ++i) {
      const Draft& draft = drafts[order[i]];
      for (; is_of_thread() && spans.start[span] <= draft.start; ++span) {
        if (spans.duration[span] < 0) continue;
        const SpanKind kind = spans.kind[span];
        if ((kind == SpanKind::op || kind == SpanKind::annotation) && !ops.add(span)) return false;
        if (kind == SpanKind::python && !python.add(span)) return false;
      }
      const int32_t op = ops.innermost(spans, draft.start);
      found.op[order[i]] = op;
      found.stack[order[i]] = stacks.of(op, python.innermost(spans, draft.start));
      if (found.stack[order[i]].is_none()) return false;
    }
    while (is_of_thread()) ++span;
  }
  return true;
}

}  // namespace gpustrata::io::traces
