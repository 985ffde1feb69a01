// Lanes of ops above the timeline: threads, what columns of pixels show of their rows, one op in full.
#include <unordered_map>
#include <vector>

#include "engine/analysis/ops/span_details.h"
#include "engine/answers/ops/span_lanes.h"
#include "engine/replay/op_finder.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

namespace {

constexpr int64_t kMostLaneCells = int64_t{1} << 20;  // lanes times columns

[[nodiscard]] Result<const model::DeviceTrace*> trace_of(const Asked& asked) {
  const model::DeviceTrace* trace = asked.view->device().trace();
  if (trace == nullptr || asked.view->device().part().spans.count == 0)
    return fail(ErrorCode::wrong_usage, -1, "this is no device of a profiler's trace: it has no ops");
  return trace;
}

// Numbers of names of an answer, in the order of their first use.
class AnswerNames {
 public:
  [[nodiscard]] int32_t number(StringId name) {
    if (name.is_none()) return -1;
    const auto [known, is_new] = numbers_.try_emplace(name.value, static_cast<int32_t>(used_.size()));
    if (is_new) used_.push_back(name);
    return known->second;
  }
  [[nodiscard]] std::span<const StringId> used() const { return used_; }

 private:
  std::unordered_map<int32_t, int32_t> numbers_;
  std::vector<StringId> used_;
};

// That of the trace's own record of what is asked for; -1 = none.
[[nodiscard]] Result<int32_t> op_of_record(Asked& asked, int64_t tick) {
  const Arguments& given = asked.arguments;
  if (!given.has("device") || !given.has("address")) return -1;
  const double address = given.real("address");
  const auto ns = asked.view->device().part().clock.nanoseconds(tick);
  if (!ns || address < 0) return -1;
  const auto finder = asked.view->device().op_finder();
  if (!finder) return tl::unexpected(finder.error());
  const auto found = (*finder)->find(given.integer("device"), static_cast<uint64_t>(address), *ns);
  return found.how == replay::OpFinder::How::record ? found.op : -1;
}

Status lane_threads(Asked& asked) {
  if (const auto trace = trace_of(asked); !trace) return tl::unexpected(trace.error());
  const auto lanes = asked.view->device().lanes();
  if (!lanes) return tl::unexpected(lanes.error());
  answers::to_json(asked.json(), asked.session.recording(), **lanes);
  return {};
}

Status lanes(Asked& asked) {
  if (const auto trace = trace_of(asked); !trace) return tl::unexpected(trace.error());
  const auto found = asked.view->device().lanes();
  if (!found) return tl::unexpected(found.error());
  const replay::SpanLanes& all = **found;
  const Arguments& given = asked.arguments;
  const replay::LaneGrid grid{given.word<replay::Axis>("axis"), given.real("from"), given.real("step"),
                              given.integer("columns")};
  const std::vector<int32_t> threads = given.integers("threads"), rows = given.integers("rows");
  if (threads.size() != rows.size())
    return fail(ErrorCode::wrong_usage, -1, "`threads` and `rows` must have the same length");
  if (static_cast<int64_t>(rows.size()) * grid.count > kMostLaneCells)
    return fail(ErrorCode::limit_exceeded, -1, "{} lanes of {} columns are too many", rows.size(),
                grid.count);
  const auto light = asked.view->lit_spans(given.text("search"));
  if (!light) return tl::unexpected(light.error());

  const model::Recording& recording = asked.session.recording();
  const model::SpanTable& spans = recording.spans;
  const replay::SpanAxis axis = asked.view->device().span_axis();
  const double least = given.real("leastForName") * grid.step;
  AnswerNames names;
  std::vector<answers::LaneEntry> shown;
  std::vector<replay::LaneEntry> entries;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<size_t>(threads[i]) >= all.threads().size())
      return fail(ErrorCode::wrong_usage, -1, "there is no thread {}", threads[i]);
    const replay::SpanLanes::Thread& thread = all.threads()[static_cast<size_t>(threads[i])];
    if (rows[i] >= thread.rows)
      return fail(ErrorCode::wrong_usage, -1, "thread {} has no row {}", threads[i], rows[i]);
    entries.clear();
    all.entries(axis, grid, all.row(thread, rows[i]), entries);
    for (const replay::LaneEntry& entry : entries) {
      const int32_t span = all.order()[entry.first];
      const double from = axis.position(grid.axis, entry.start), to = axis.position(grid.axis, entry.end);
      shown.push_back({.lane = static_cast<int32_t>(i),
                       .span = span,
                       .count = entry.count,
                       .name = entry.count == 1 && to - from >= least ? names.number(spans.name[span]) : -1,
                       .lit = *light ? (**light)[entry.first + entry.count] - (**light)[entry.first] : 0,
                       .is_annotation = spans.kind[span] == model::SpanKind::annotation,
                       .from = from,
                       .to = to});
    }
  }
  answers::to_columns(asked.json(), asked.answer, answers::ShownLanes{recording, names.used(), shown});
  return {};
}

Status span(Asked& asked) {
  const auto trace = trace_of(asked);
  if (!trace) return tl::unexpected(trace.error());
  const model::Part& part = asked.view->device().part();
  const model::Recording& recording = asked.session.recording();
  const int32_t row = asked.arguments.integer("span");
  if (row < part.spans.first || row >= part.spans.end())
    return fail(ErrorCode::wrong_usage, -1, "there is no span {}", row);
  const replay::SpanAxis axis = asked.view->device().span_axis();
  const analysis::SpanDetails details = analysis::span_details(recording, **trace, axis, row);
  answers::to_json(asked.json(), answers::ShownSpan{recording, part, axis, details});
  return {};
}

Status ops_at(Asked& asked) {
  if (const auto trace = trace_of(asked); !trace) return tl::unexpected(trace.error());
  const auto lanes = asked.view->device().lanes();
  if (!lanes) return tl::unexpected(lanes.error());
  const int64_t time =
      asked.view->device().span_axis().last_tick(replay::Axis::time, asked.arguments.real("time"));
  std::vector<int32_t> running;
  const auto recorded = op_of_record(asked, time);
  if (!recorded) return tl::unexpected(recorded.error());
  if (*recorded >= 0) {
    running.push_back(*recorded);
  } else {
    for (const replay::SpanLanes::Thread& thread : (*lanes)->threads()) {
      if (const int32_t span = replay::innermost_op(**lanes, thread, time); span >= 0)
        running.push_back(span);
    }
  }
  answers::list_to_json(asked.json(), running, asked.session.recording(), **lanes);
  return {};
}

// clang-format off
constexpr Question kOfLanes[] = {
    // Lanes of ops above the timeline (engine/replay/span_lanes.h): threads of a profiler's trace; what columns of `step`
    // units of the axis show of rows of threads, names where one op is so many columns wide, lit those that a filter means;
    // one op in full.
    {"laneThreads", Of::view, "", "LaneThreads", lane_threads},
    {"lanes", Of::view, "axis: Axis, from: Real, step: Positive, columns: Pixels, threads: Count[], rows: Count[], search: Text, leastForName: Real", "Lanes", lanes},
    {"span", Of::view, "span: Row", "SpanDetails", span},
    // What ran at a microsecond of the axis of times, thread by thread: the ops that a block of a snapshot of the same run was
    // made in. Of its device and address: that of the trace's own record of it alone, if there is one.
    {"opsAt", Of::view, "time: Real, device?: Device, address?: Real", "RunningOps[]", ops_at},
};
// clang-format on

}  // namespace

std::span<const Question> of_lanes() { return kOfLanes; }

}  // namespace gpustrata::session::reply
