// Numbers over time, and what operators and profiled functions did with memory: of files, whatever view is open.
#include <algorithm>
#include <vector>

#include "engine/analysis/series/operator_memory.h"
#include "engine/analysis/series/series_view.h"
#include "engine/analysis/series/telemetry.h"
#include "engine/answers/details/timeline_view.h"
#include "engine/answers/series/operator_memory.h"
#include "engine/answers/series/series_view.h"
#include "engine/answers/series/telemetry.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

namespace {

constexpr int64_t kMostCalls = 1000;
constexpr size_t kMostOperators = 10'000;

[[nodiscard]] Result<const model::Part*> part_of(Asked& asked) {
  const int32_t number = asked.arguments.integer("part");
  const model::Part* part = analysis::series_part(asked.session.recording(), number);
  if (part == nullptr)
    return fail(ErrorCode::wrong_usage, -1, "part {} of the file has no numbers over time", number);
  return part;
}

Status series(Asked& asked) {
  answers::list_to_json(asked.json(), analysis::find_series_parts(asked.session.recording()));
  return {};
}

Status series_levels(Asked& asked) {
  const auto part = part_of(asked);
  if (!part) return tl::unexpected(part.error());
  const model::Recording& recording = asked.session.recording();
  const replay::SeriesGrid grid = asked.arguments.stretch("stretch");
  const std::vector<int32_t> wanted = asked.arguments.integers("series");
  for (const int32_t series : wanted) {
    if (series < 0 || series >= (*part)->series.count)
      return fail(ErrorCode::wrong_usage, -1, "there is no series {}", series);
  }
  const bool stacked = (*part)->series_are == model::SeriesAre::categories;
  const size_t made = std::max(wanted.size(), static_cast<size_t>(stacked ? (*part)->series.count : 0));
  if (made * static_cast<size_t>(grid.count) > View::kMostPixels)
    return fail(ErrorCode::limit_exceeded, -1, "{} series in {} columns are too many", made, grid.count);
  const analysis::SeriesLevels levels(recording, **part, grid);
  answers::to_columns(asked.json(), asked.answer,
                      answers::Levels{wanted.size(), [&](size_t i) { return levels.of(wanted[i]); }});
  return {};
}

Status series_moment(Asked& asked) {
  const auto part = part_of(asked);
  if (!part) return tl::unexpected(part.error());
  const replay::SeriesGrid column{asked.arguments.whole("column"), asked.arguments.whole("width"), 1};
  const model::Recording& recording = asked.session.recording();
  answers::to_json(asked.json(), recording, analysis::series_moment(recording, **part, column));
  return {};
}

Status calls(Asked& asked) {
  const auto part = part_of(asked);
  if (!part) return tl::unexpected(part.error());
  const int64_t count = std::min<int64_t>(asked.arguments.integer("count"), kMostCalls);
  answers::list_to_json(asked.json(), analysis::function_calls(asked.session.recording(), **part,
                                                               asked.arguments.integer("first"), count));
  return {};
}

Status operators(Asked& asked) {
  const auto part = part_of(asked);
  if (!part) return tl::unexpected(part.error());
  if ((*part)->series_are != model::SeriesAre::operators)
    return fail(ErrorCode::wrong_usage, -1, "this part does not tell of operators");
  const auto most = std::min(static_cast<size_t>(asked.arguments.integer("most")), kMostOperators);
  const auto memory = analysis::operator_memory(asked.session.recording(), **part, most);
  if (!memory) return tl::unexpected(memory.error());
  answers::to_json(asked.json(), asked.session.recording(), *memory);
  return {};
}

Status telemetry(Asked& asked) {
  if (!analysis::has_telemetry(asked.session.recording()))
    return fail(ErrorCode::wrong_usage, -1, "there are no counters over time in this file");
  const auto found = analysis::telemetry(asked.session.recording());
  if (!found) return tl::unexpected(found.error());
  answers::to_json(asked.json(), *found);
  return {};
}

// clang-format off
constexpr Question kOfSeries[] = {
    // Parts of the file that are numbers over time, with what is drawn of them (engine/analysis/series/series_view.h).
    {"series", Of::file, "", "SeriesPart[]", series},
    // Levels of a part on its axis. Categories add up: they are those at the moment of the highest total, their first series.
    {"seriesLevels", Of::file, "part: Count, series: Count[], stretch: Stretch", "Levels", series_levels},
    // What happened in a column.
    {"seriesMoment", Of::file, "part: Count, column: Whole, width: Width", "SeriesMoment", series_moment},
    // Of profiled functions, at most 1,000.
    {"calls", Of::file, "part: Count, first: Count, count: Count", "FunctionCall[]", calls},
    // The object of `gpustrata tracker --json`, the `most` operators that took most in it, at most 10,000.
    {"operators", Of::file, "part: Count, most: Count", "Operators", operators},
    // The object of `gpustrata telemetry --json`.
    {"telemetry", Of::file, "", "Telemetry", telemetry},
};
// clang-format on

}  // namespace

std::span<const Question> of_series() { return kOfSeries; }

}  // namespace gpustrata::session::reply
