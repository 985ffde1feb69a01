// Why it ran out of memory, what leaks, what is fragmented, what changed.
#include <algorithm>
#include <limits>
#include <vector>

#include "engine/analysis/compare/carried_stacks.h"
#include "engine/analysis/findings/fragmentation.h"
#include "engine/analysis/findings/never_full.h"
#include "engine/analysis/live/source_lines.h"
#include "engine/analysis/live/top.h"
#include "engine/analysis/report/report.h"
#include "engine/analysis/steps/step_levels.h"
#include "engine/answers/compare/carried_stacks.h"
#include "engine/answers/details/timeline_view.h"
#include "engine/answers/findings/fragmentation.h"
#include "engine/answers/findings/never_full.h"
#include "engine/answers/live/never_freed.h"
#include "engine/answers/live/source_lines.h"
#include "engine/answers/report/report.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

namespace {

constexpr size_t kMostNeverFreed = 200;
constexpr size_t kMostCarried = 4000;
constexpr size_t kMostMoments = 256;
constexpr size_t kMostLevels = 16;

// The end of the recording is its last event.
[[nodiscard]] int32_t event_of(const Asked& asked, const Device& device) {
  return std::min(asked.arguments.integer("event"), device.lives().events.count - 1);
}

// Of the blocks of the device, whatever the bands of the view.
[[nodiscard]] Result<analysis::CarriedStacks> carried_at(const Device& device, int32_t event) {
  const int32_t at = std::min(event, device.lives().events.count - 1);
  const auto top = analysis::find_top(device.recording(), device.part(), device.lives(),
                                      analysis::When::alive(at), analysis::By::shown, kMostCarried);
  if (!top) return tl::unexpected(top.error());
  return analysis::carried_stacks({device.recording(), *top});
}

Status prepare_report(Asked& asked) {
  const auto found = asked.view->device().report(asked.arguments.integer("part"));
  if (!found) return tl::unexpected(found.error());
  asked.json().value(analysis::ReportFinder::kParts);
  return {};
}

Status report(Asked& asked) {
  Device& device = asked.view->device();
  const auto found = device.report(analysis::ReportFinder::kParts);
  if (!found) return tl::unexpected(found.error());
  const auto context = device.context();
  if (!context) return tl::unexpected(context.error());
  const analysis::Report& report = (*found)->report();
  answers::to_json(asked.json(), *context, answers::DeviceReport{{}, report, report.categories->rules});
  return {};
}

Status never_freed(Asked& asked) {
  Device& device = asked.view->device();
  const int32_t from = asked.arguments.integer("from"), last = device.lives().events.count - 1;
  const auto when =
      analysis::When::never_freed(device.lives(), from, std::min(asked.arguments.integer("until"), last));
  const auto lines = device.keys(analysis::By::line);
  if (!lines) return tl::unexpected(lines.error());
  const auto found = analysis::find_top(device.recording(), device.part(), device.lives(), when,
                                        analysis::By::line, kMostNeverFreed, {}, *lines);
  if (!found) return tl::unexpected(found.error());
  answers::to_json(asked.json(), device.recording(), answers::NeverFreed{*found, from});
  return {};
}

Status source_files(Asked& asked) {
  Device& device = asked.view->device();
  const auto files = device.keys(analysis::By::file);
  if (!files) return tl::unexpected(files.error());
  const auto found = analysis::find_source_files(device.recording(), device.part(), device.lives(),
                                                 event_of(asked, device), **files);
  if (!found) return tl::unexpected(found.error());
  answers::list_to_json(asked.json(), found->span(), device.recording());
  return {};
}

Status source_lines(Asked& asked) {
  Device& device = asked.view->device();
  const auto lines = device.keys(analysis::By::line);
  if (!lines) return tl::unexpected(lines.error());
  const auto found =
      analysis::find_source_lines(device.recording(), device.part(), device.lives(), event_of(asked, device),
                                  asked.arguments.text("file"), **lines);
  if (!found) return tl::unexpected(found.error());
  answers::to_json(asked.json(), *found);
  return {};
}

Status facts(Asked& asked) {
  const auto found = carried_at(asked.view->device(), asked.arguments.integer("event"));
  if (!found) return tl::unexpected(found.error());
  answers::to_json(asked.json(), asked.session.recording(), *found);
  return {};
}

Status compare(Asked& asked) {
  const auto before = asked.arguments.carried_stacks("before", asked.session.recording().budget);
  if (!before) return tl::unexpected(before.error());
  const auto after = carried_at(asked.view->device(), asked.arguments.integer("event"));
  if (!after) return tl::unexpected(after.error());
  const auto parts =
      analysis::pair(*before, *after, analysis::Paired::by_functions, asked.session.recording().budget);
  if (!parts) return tl::unexpected(parts.error());
  answers::to_json(asked.json(), asked.session.recording(), *after, *parts);
  return {};
}

[[nodiscard]] Result<std::vector<analysis::ColumnEvents>> events_of(const Asked& asked,
                                                                    const AskedColumns& columns) {
  using analysis::LevelAxis;
  Device& device = asked.view->device();
  const replay::SeriesGrid& grid = columns.grid;
  if (columns.axis == LevelAxis::step) {
    const auto steps = device.steps();
    if (!steps) return tl::unexpected(steps.error());
    return analysis::events_of_columns(analysis::stretches_of(**steps), grid);
  }
  if (columns.axis == LevelAxis::region) {
    const auto regions = analysis::find_regions(device.recording(), device.part(), device.rows());
    if (!regions) return tl::unexpected(regions.error());
    return analysis::events_of_columns(
        analysis::stretches_of(device.recording(), regions->span(), columns.region), grid);
  }
  const auto axis = columns.axis == LevelAxis::time ? replay::Axis::time : replay::Axis::event;
  return analysis::events_of_columns(asked.view->timeline(), {axis, grid.first, grid.width, grid.count});
}

// Free memory after the last event of each column.
struct FreeLevels {
  replay::LevelValues cached, held_back;
};
[[nodiscard]] Result<FreeLevels> free_levels(const Asked& asked,
                                             std::span<const analysis::ColumnEvents> events, size_t columns) {
  if (columns > kMostMoments)
    return fail(ErrorCode::limit_exceeded, -1, "free memory in {} columns is more than in {}", columns,
                kMostMoments);
  const auto states = asked.view->device().states();
  if (!states) return tl::unexpected(states.error());
  std::vector<double> cached(columns, std::numeric_limits<double>::quiet_NaN()), held_back = cached;
  for (size_t i = 0; i < events.size(); ++i) {
    const auto& [column, range] = events[i];
    if (i + 1 < events.size() && events[i + 1].column == column) continue;
    if (const auto moved = (*states)->totals(range.end - 1); !moved) return tl::unexpected(moved.error());
    const auto found = analysis::find_fragmentation((*states)->context(), (*states)->memory());
    cached[column] = static_cast<double>(found.cached);
    held_back[column] = static_cast<double>(found.held_back);
  }
  return FreeLevels{{cached, cached}, {held_back, held_back}};
}

Status levels(Asked& asked) {
  using analysis::LevelOf;
  const auto wanted = asked.arguments.words<LevelOf>("of");
  const AskedColumns columns = asked.arguments.level_columns("columns");
  const auto count = static_cast<size_t>(columns.grid.count);
  if (wanted.size() > kMostLevels)
    return fail(ErrorCode::limit_exceeded, -1, "{} levels are more than {}", wanted.size(), kMostLevels);
  const auto events = events_of(asked, columns);
  if (!events) return tl::unexpected(events.error());
  const auto is_free = [](LevelOf of) { return of == LevelOf::cached || of == LevelOf::held_back; };
  Result<FreeLevels> unused = FreeLevels{};
  if (std::any_of(wanted.begin(), wanted.end(), is_free)) unused = free_levels(asked, *events, count);
  if (!unused) return tl::unexpected(unused.error());
  answers::to_columns(
      asked.json(), asked.answer,
      answers::Levels{wanted.size(), [&](size_t i) {
                        if (!is_free(wanted[i]))
                          return analysis::level_values(asked.view->timeline(), *events, count, wanted[i]);
                        return wanted[i] == LevelOf::cached ? unused->cached : unused->held_back;
                      }});
  return {};
}

Status fragmentation(Asked& asked) {
  const auto states = asked.view->device().states();
  if (!states) return tl::unexpected(states.error());
  if (const auto moved = (*states)->totals(asked.arguments.integer("event")); !moved)
    return tl::unexpected(moved.error());
  const analysis::EventContext context = (*states)->context();
  const replay::MemoryAt& memory = (*states)->memory();
  answers::to_json(asked.json(), context, analysis::find_fragmentation(context, memory),
                   analysis::find_free_places(context, memory));
  return {};
}

Status never_full(Asked& asked) {
  const auto states = asked.view->device().states();
  if (!states) return tl::unexpected(states.error());
  const analysis::EventContext context = (*states)->context();
  const auto found = analysis::find_never_full(context);
  if (!found) return tl::unexpected(found.error());
  answers::to_json(asked.json(), context, *found);
  return {};
}

// clang-format off
constexpr Question kOfAnswers[] = {
    // At least so many parts of the report are then found; how many there are. For long recordings.
    {"prepareReport", Of::states, "part: Count", "Count", prepare_report},
    // Why it ran out of memory, what leaks, what the peak is made of, what is fragmented (engine/answers/report/report.h).
    {"report", Of::states, "", "Report", report},
    // What was allocated by the events of a stretch and is never freed, by line, at most 200; from -1 = also what was
    // there before.
    {"neverFreed", Of::view, "from: Event, until: Event", "NeverFreed", never_freed},
    // Of what is alive after the event: files by what their own lines asked for; and the lines of one, its name as it is there.
    {"sourceFiles", Of::view, "event: Event", "SourceFile[]", source_files},
    {"sourceLines", Of::view, "event: Event, file: Text", "SourceLines", source_lines},
    // What is alive after the event, stack by stack, at most 4,000, for `compare`, of whatever file.
    {"facts", Of::view, "event: Event", "StackFacts", facts},
    // What is alive after the event against what `before` had: by stack, whose parts add up to both.
    {"compare", Of::view, "event: Event, before: Facts", "Compared", compare},
    // Levels in columns of an axis: columns of both files of a comparison mean the same. Free memory in at most 256 columns, and best
    // after `prepare`.
    {"levels", Of::view, "of: LevelOf[], columns: LevelColumns", "Levels", levels},
    // What holds free memory back after the event, and what each pool and stream has of it.
    {"fragmentation", Of::states, "event: Event", "Fragmentation", fragmentation},
    // Segments that were never full, over the whole recording (engine/analysis/findings/never_full.h).
    {"neverFull", Of::states, "", "NeverFull", never_full},
};
// clang-format on

}  // namespace

std::span<const Question> of_answers() { return kOfAnswers; }

}  // namespace gpustrata::session::reply
