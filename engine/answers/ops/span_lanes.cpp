#include "engine/answers/ops/span_lanes.h"

#include <fmt/core.h>

#include <string>

#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

namespace {

constexpr size_t kLongestOpTerm = 300;  // bytes of a name in a filter

constexpr std::string_view kLaneKinds[] = {"op", "annotation"};

// Blocks that events of it allocated in an op of its name. Empty: there are none.
[[nodiscard]] std::string filter_of_span(const model::Recording& recording,
                                         const analysis::SpanDetails& details) {
  if (details.allocs == 0) return {};
  std::string filter = fmt::format("born:{}..{}", details.from_event, details.to_event - 1);
  const StringId name = recording.spans.name[details.span];
  if (name.is_none()) return filter;
  const std::string_view text = recording.strings.view(name);
  // What the language cannot quote: the moments alone.
  if (text.empty() || text.size() > kLongestOpTerm || text.find('"') != std::string_view::npos) return filter;
  return fmt::format("{} op:\"{}\"", filter, text);
}

}  // namespace

void describe(Members& m, const model::Recording& recording, const replay::SpanLanes& lanes) {
  m.is({"LaneThreads", "Threads of a trace that have ops, those with most memory records first."});
  m.list(
      "threads", [&] { return std::span(lanes.threads()); },
      [&](const replay::SpanLanes::Thread& thread) {
        m.is("LaneThread");
        m.text("process", [&] { return text_or_none(recording, recording.threads.process[thread.thread]); });
        m.text("id", [&] { return text_or_none(recording, recording.threads.id[thread.thread]); });
        m.text("name", [&] { return text_or_none(recording, recording.threads.name[thread.thread]); });
        m.count({"spans", "Ops."}, thread.spans);
        m.count({"records", "Memory records of the device."}, thread.records);
        m.count("rows", thread.rows);
        m.count({"deeper", "Ops below the last row."}, thread.deeper);
      });
  m.count("threads_left_out", [&] { return lanes.threads_left_out(); });
}

void describe(Members& m, const ShownLanes& lanes) {
  const auto column = [&](Name name, const auto& of) { m.column(As::count, name, lanes.entries, of); };
  m.is(
      {"Lanes",
       "An entry is one op, or several next to each other that are too narrow to be told apart. By lane, then from left to right."});
  m.values(As::text, "names", lanes.names,
           [&](StringId name) { return in_list(lanes.recording.strings.view(name)); });
  column({"lane", "Index of the lane that was asked for."}, [](const LaneEntry& one) { return one.lane; });
  column({"span", "The first op."}, [](const LaneEntry& one) { return one.span; });
  column({"count", "Ops."}, [](const LaneEntry& one) { return one.count; });
  column({"name", "Of `names`; -1 = too narrow for words, or several."},
         [](const LaneEntry& one) { return one.name; });
  column({"lit", "Ops that the search means."}, [](const LaneEntry& one) { return one.lit; });
  column({"kind", "1 = an annotation of the program."},
         [](const LaneEntry& one) { return static_cast<uint8_t>(one.is_annotation); });
  m.column(As::axis, {"from", "On the axis."}, lanes.entries, [](const LaneEntry& one) { return one.from; });
  m.column(As::axis, "to", lanes.entries, [](const LaneEntry& one) { return one.to; });
}

void describe(Members& m, const Allocations& allocations) {
  m.is({"Allocations", "Of a snapshot, by event."});
  m.count({"next", "The event to ask on from; the number of events = that was all."}, allocations.next);
  m.column(As::count, "event", allocations.all, [](const ShownAllocation& one) { return one.event; });
  m.column(As::microseconds, {"time_us", "Since 1970; NaN = not known."}, allocations.all,
           [](const ShownAllocation& one) { return one.time_us; });
  m.column(As::number, {"address", "-1 = none that a number tells exactly."}, allocations.all,
           [](const ShownAllocation& one) { return one.address; });
}

void describe(Members& m, const AllocationOps& ops) {
  m.is("AllocationOps");
  m.column(As::count,
           {"node",
            "Of each allocation asked for; below 0 = none (engine/session/replies_of_made_in.cpp says why)."},
           ops.nodes);
}

void describe(Members& m, const ShownOpPaths& paths) {
  m.is("OpPaths");
  m.values(As::text, "names", paths.nodes,
           [&](const ShownOpPath& one) { return in_list(paths.recording.strings.view(one.name)); });
  m.column(As::count, "parent", paths.nodes, [](const ShownOpPath& one) { return one.parent; });
  m.column(As::count, {"op", "1 = an op, 0 = a Python function."}, paths.nodes,
           [](const ShownOpPath& one) { return static_cast<uint8_t>(one.is_op); });
}

void describe(Members& m, const model::Recording& recording, const replay::SpanLanes& lanes, int32_t span) {
  const model::SpanTable& spans = recording.spans;
  const int32_t thread = m.found([&] { return spans.thread[span]; });
  StringId module;
  m.is("RunningOps");
  m.text("process", [&] { return text_or_none(recording, recording.threads.process[thread]); });
  m.text("thread", [&] { return text_or_none(recording, recording.threads.id[thread]); });
  m.text("thread_name", [&] { return text_or_none(recording, recording.threads.name[thread]); });
  m.count({"span", "The innermost op."}, span);
  m.object({"lane", "Where it is drawn; null: deeper than the last row."},
           m.found([&] { return lanes.place_of(span); }), [&](const auto& place) {
             m.count("thread", place.thread);
             m.count("row", place.row);
           });
  m.texts({"ops", "Innermost first."}, [&] {
    std::vector<std::string> names;
    for (int32_t row = span; row >= 0 && names.size() < analysis::kMostAround; row = spans.parent[row]) {
      if (spans.kind[row] != model::SpanKind::op && spans.kind[row] != model::SpanKind::annotation) continue;
      if (module.is_none()) module = spans.module[row];
      if (const auto name = text_or_none(recording, spans.name[row])) names.push_back(*name);
    }
    return names;
  });
  m.text("module", [&] { return text_or_none(recording, module); });
}

void describe(Members& m, const ShownSpan& shown) {
  const model::Recording& recording = shown.recording;
  const auto& part = shown.part;
  const auto& axis = shown.axis;
  const analysis::SpanDetails& details = m.of(shown.details);
  const model::SpanTable& spans = recording.spans;
  const int32_t span = details.span;
  const int32_t thread = m.found([&] { return spans.thread[span]; });
  const auto text = [&](Name name, const auto& id) {
    m.text(name, [&] { return text_or_none(recording, id()); });
  };
  m.is("SpanDetails");
  m.count("span", span);
  text("name", [&] { return spans.name[span]; });
  text("category", [&] { return spans.category[span]; });
  m.word("kind", kLaneKinds,
         [&] { return kLaneKinds[spans.kind[span] == model::SpanKind::annotation ? 1 : 0]; });
  text("process", [&] { return recording.threads.process[thread]; });
  text("thread", [&] { return recording.threads.id[thread]; });
  text("thread_name", [&] { return recording.threads.name[thread]; });
  m.number({"start_us", "Microseconds since the first event."},
           [&] { return axis.position(replay::Axis::time, spans.start[span]); });
  m.number("duration_us", [&] {
    return static_cast<double>(spans.duration[span]) * static_cast<double>(part.clock.tick_ns) / 1000.0;
  });
  m.count({"from_event", "Events of the device while it ran, of whatever thread: [from, to)."},
          details.from_event);
  m.count("to_event", details.to_event);
  m.count({"allocs", "Of its thread, as the next four."}, details.allocs);
  m.count("frees", details.frees);
  m.bytes("net", details.net);
  m.bytes("gross", details.gross);
  m.bytes("peak", details.peak);
  m.texts({"around", "Ops around it, innermost first."}, [&] {
    std::vector<std::string> names;
    for (const int32_t row : details.around) {
      if (const auto name = text_or_none(recording, spans.name[row])) names.push_back(*name);
    }
    return names;
  });
  text("shapes", [&] { return spans.shapes[span]; });
  text("module", [&] { return spans.module[span]; });
  m.count("step", [&] { return spans.step[span] < 0 ? std::nullopt : std::optional(spans.step[span]); });
  m.text({"filter", "What lights its blocks; null = it allocated nothing."},
         [&] { return or_none(filter_of_span(recording, details)); });
}

}  // namespace gpustrata::answers
