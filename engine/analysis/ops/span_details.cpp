#include "engine/analysis/ops/span_details.h"

#include <algorithm>

#include "engine/analysis/filters/filter_syntax.h"
#include "engine/analysis/ops/range_sums.h"
#include "engine/base/ascii.h"

namespace gpustrata::analysis {

using trace::Action;

namespace {

[[nodiscard]] bool contains_word(std::string_view text, std::string_view lowered) {
  return std::search(text.begin(), text.end(), lowered.begin(), lowered.end(),
                     [](char a, char b) { return ascii::lower(a) == b; }) != text.end();
}

// What a filter says about names of ops, if that is all it says.
class NamesLookedFor {
 public:
  explicit NamesLookedFor(std::string_view text) {
    const auto tree = parse_filter(text);
    if (!tree || tree->root < 0) return;
    const FilterNode& root = tree->nodes[static_cast<size_t>(tree->root)];
    if (root.kind != FilterNode::Kind::term) return;
    whole_ = root.field == FilterField::op;
    if (whole_ || root.field == FilterField::anything) text_ = whole_ ? root.text : ascii::lower(root.text);
  }
  [[nodiscard]] bool none() const { return text_.empty(); }
  [[nodiscard]] bool has(std::string_view name) const {
    return whole_ ? name == text_ : contains_word(name, text_);
  }

 private:
  bool whole_ = false;
  std::string text_;
};

}  // namespace

SpanDetails span_details(const model::Recording& recording, const model::DeviceTrace& trace,
                         const replay::SpanAxis& axis, int32_t span) {
  const model::SpanTable& spans = recording.spans;
  SpanDetails details;
  details.span = span;
  details.from_event = axis.events_before(spans.start[span]);
  details.to_event = details.from_event;
  if (spans.duration[span] >= 0) details.to_event = axis.events_before(replay::lane_end(spans, span));
  WideSum net = 0, gross = 0, peak = 0;
  for (int32_t i = details.from_event; i < details.to_event && trace.first_record >= 0; ++i) {
    const auto event = static_cast<size_t>(trace.events.first + i);
    if (recording.records.thread[trace.first_record + i] != spans.thread[span]) continue;
    const int64_t size = recording.events.size[event];
    if (recording.events.action[event] == Action::oom || size == 0) continue;
    const bool allocates = recording.events.action[event] == Action::alloc;
    ++(allocates ? details.allocs : details.frees);
    net += allocates ? size : -static_cast<WideSum>(size);
    gross += allocates ? size : 0;
    peak = std::max(peak, net);
  }
  details.net = narrow(net);
  details.gross = narrow(gross);
  details.peak = narrow(peak);
  for (int32_t row = spans.parent[span]; row >= 0 && details.around.size() < kMostAround;
       row = spans.parent[row]) {
    const model::SpanKind kind = spans.kind[row];
    if (kind == model::SpanKind::op || kind == model::SpanKind::annotation) details.around.push_back(row);
  }
  return details;
}

Result<Column<int32_t>> count_lit_spans(const model::Recording& recording, const model::Part& part,
                                        const model::DeviceTrace& trace, const replay::BlockLives& lives,
                                        const replay::SpanLanes& lanes, const Matches& blocks,
                                        std::string_view text) {
  const model::SpanTable& spans = recording.spans;
  const auto no_memory = [&] {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to search {} spans", part.spans.count);
  };
  Column<uint8_t> lit(recording.budget);
  Column<int32_t> before(recording.budget);
  const size_t count = lanes.order().size();
  if (!lit.resize(static_cast<size_t>(part.spans.count), 0) || !before.resize(count + 1, 0))
    return no_memory();
  for (const int32_t rank : blocks.ranks) {
    const int32_t event = lives.born[rank];
    if (event < 0 || trace.first_record < 0) continue;
    for (int32_t row = recording.records.op[trace.first_record + event];
         row >= 0 && lit[row - part.spans.first] == 0; row = spans.parent[row]) {
      lit[row - part.spans.first] = 1;
    }
  }
  if (const NamesLookedFor names(text); !names.none()) {
    StringId last;
    bool last_fits = false;
    Column<int8_t> known(recording.budget);  // by name: -1 = not looked at
    if (!known.resize(recording.strings.size(), -1)) return no_memory();
    for (const int32_t span : lanes.order()) {
      const StringId name = spans.name[span];
      if (name.is_none()) continue;
      if (name != last) {
        if (known[name] < 0) known[name] = names.has(recording.strings.view(name)) ? 1 : 0;
        last = name;
        last_fits = known[name] == 1;
      }
      if (last_fits) lit[span - part.spans.first] = 1;
    }
  }
  for (size_t i = 0; i < count; ++i) before[i + 1] = before[i] + lit[lanes.order()[i] - part.spans.first];
  return before;
}

}  // namespace gpustrata::analysis
