#include "engine/analysis/series/series_view.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

namespace gpustrata::analysis {

using model::RowRange;
using model::SeriesAre;

namespace {

constexpr std::string_view kMarkers = "markers";
constexpr std::array<std::string_view, 5> kCalls = {"call_before", "call_peak", "call_after", "call_net",
                                                    "call_time"};

[[nodiscard]] bool is_of_calls(std::string_view name) { return name.starts_with("call_"); }

[[nodiscard]] bool is_alert(std::string_view label) {
  return label == "critical" || label == "warning" || label == "error" || label == "oom";
}

[[nodiscard]] std::string_view text_of(const model::Recording& recording, StringId text) {
  return text.is_none() ? std::string_view() : recording.strings.view(text);
}

[[nodiscard]] SeriesCurve curve_of(const model::Recording& recording, const model::Part& part,
                                   int32_t series) {
  const int32_t row = part.series.first + series;
  SeriesCurve curve;
  curve.series = series;
  curve.name = recording.strings.view(recording.series.name[row]);
  curve.device = recording.series.device[row];
  const RowRange points = recording.series.points[row];
  curve.unit = recording.series.unit[row];
  curve.points = points.count;
  for (int32_t point = points.first; point < points.end(); ++point) {
    const int64_t value = recording.points.value[point];
    if (value == model::kNoValue) continue;
    curve.highest = std::max(curve.highest.value_or(value), value);
    curve.lowest = std::min(curve.lowest.value_or(value), value);
  }
  return curve;
}

// Categories share their chart: they are stacked.
void share_charts(SeriesPart& found) {
  if (found.are == SeriesAre::categories) {
    for (SeriesCurve& curve : found.curves) curve.chart = 0;
    return;
  }
  std::vector<SeriesCurve*> drawn;
  for (SeriesCurve& curve : found.curves) {
    if (curve.highest && curve.unit == model::Unit::bytes) drawn.push_back(&curve);
  }
  const auto kind = [](const SeriesCurve& curve) { return is_of_calls(curve.name); };
  std::sort(drawn.begin(), drawn.end(), [&](const SeriesCurve* a, const SeriesCurve* b) {
    return std::tuple(a->device, kind(*a), -*a->highest, a->series) <
           std::tuple(b->device, kind(*b), -*b->highest, b->series);
  });
  int32_t chart = -1;
  const SeriesCurve* top = nullptr;
  for (SeriesCurve* curve : drawn) {
    const bool fits = top != nullptr && top->device == curve->device && kind(*top) == kind(*curve) &&
                      *curve->highest >= *top->highest / kOneScale;
    if (!fits) {
      ++chart;
      top = curve;
    }
    curve->chart = chart;
  }
}

void find_marks(const model::Recording& recording, const model::Part& part, const replay::SeriesAxis& axis,
                SeriesPart& found) {
  const model::PointTable& points = recording.points;
  for (const SeriesCurve& curve : found.curves) {
    const bool markers = curve.name == kMarkers;
    if (!markers && (found.are != SeriesAre::counters || is_of_calls(curve.name))) continue;
    const RowRange rows = recording.series.points[part.series.first + curve.series];
    for (int32_t row = rows.first; row < rows.end(); ++row) {
      const std::string_view label = text_of(recording, points.label[row]);
      if (!markers && !is_alert(label)) continue;
      if (found.marks.size() == kMostSeriesMarks) {
        ++found.marks_left_out;
        continue;
      }
      found.marks.push_back(
          {axis.position(points.time[row]), curve.device, label, text_of(recording, points.note[row])});
    }
  }
}

// Where the calls of a device are: all five series have a point for each.
struct CallRows {
  int32_t device = model::kUnknownDevice;
  std::array<RowRange, kCalls.size()> rows{};
};
[[nodiscard]] std::vector<CallRows> call_rows(const model::Recording& recording, const model::Part& part) {
  std::map<int32_t, CallRows> found;
  for (int32_t row = part.series.first; row < part.series.end(); ++row) {
    const std::string_view name = recording.strings.view(recording.series.name[row]);
    const auto which = std::find(kCalls.begin(), kCalls.end(), name);
    if (which == kCalls.end()) continue;
    CallRows& of = found[recording.series.device[row]];
    of.device = recording.series.device[row];
    of.rows[static_cast<size_t>(which - kCalls.begin())] = recording.series.points[row];
  }
  std::vector<CallRows> all;
  for (const auto& one : found) {
    const CallRows& of = one.second;
    const bool whole = std::all_of(of.rows.begin(), of.rows.end(),
                                   [&](const RowRange& range) { return range.count == of.rows[0].count; });
    if (whole) all.push_back(of);
  }
  return all;
}

}  // namespace

const model::Part* series_part(const model::Recording& recording, int32_t part) {
  if (part < 0 || static_cast<size_t>(part) >= recording.parts.size()) return nullptr;
  const model::Part& found = recording.parts[static_cast<size_t>(part)];
  return found.series.count > 0 ? &found : nullptr;
}

std::vector<SeriesPart> find_series_parts(const model::Recording& recording) {
  std::vector<SeriesPart> parts;
  for (size_t i = 0; i < recording.parts.size() && parts.size() < kMostSeriesParts; ++i) {
    const model::Part& part = recording.parts[i];
    if (part.series.count == 0) continue;
    const replay::SeriesAxis axis(recording, part);
    SeriesPart& found = parts.emplace_back();
    found.part = static_cast<int32_t>(i);
    found.name = part.name;
    found.are = part.series_are;
    found.has_clock = part.has_clock;
    found.extent = axis.extent();
    if (part.has_clock && found.extent > 0) {
      found.first_us = part.clock.microseconds(axis.origin());
      if (found.first_us) found.last_us = *found.first_us + found.extent - 1;
    } else if (!part.has_clock) {
      found.first_step = axis.origin();
    }
    const int32_t shown = std::min(part.series.count, kMostCurves);
    found.curves_left_out = part.series.count - shown;
    for (int32_t series = 0; series < shown; ++series)
      found.curves.push_back(curve_of(recording, part, series));
    share_charts(found);
    find_marks(recording, part, axis, found);
    for (const CallRows& rows : call_rows(recording, part)) found.calls += rows.rows[0].count;
    if (found.are == SeriesAre::categories) found.timeline = category_timeline(recording, part, kTablePieces);
  }
  return parts;
}

SeriesLevels::SeriesLevels(const model::Recording& recording, const model::Part& part,
                           const replay::SeriesGrid& grid)
    : recording_(recording), part_(part), grid_(grid), axis_(recording, part) {
  if (part.series_are == SeriesAre::categories) stack_ = replay::series_stack(recording, part, axis_, grid);
}

replay::LevelValues SeriesLevels::of(int32_t series) const {
  const std::vector<double> nothing(static_cast<size_t>(grid_.count),
                                    std::numeric_limits<double>::quiet_NaN());
  replay::LevelValues found{nothing, nothing};
  if (series > 0 && !stack_.totals.empty()) {
    for (size_t column = 0; column < stack_.totals.size(); ++column) {
      if (stack_.totals[column].point < 0) continue;
      const size_t at = column * stack_.categories + static_cast<size_t>(series) - 1;
      found.highest[column] = found.lowest[column] = static_cast<double>(stack_.levels[at]);
    }
    return found;
  }
  const auto columns =
      replay::series_columns(recording_, axis_, recording_.series.points[part_.series.first + series], grid_);
  for (size_t column = 0; column < columns.size(); ++column) {
    const auto& [highest, lowest] = columns[column];
    if (highest) found.highest[column] = static_cast<double>(highest->value);
    if (lowest) found.lowest[column] = static_cast<double>(lowest->value);
  }
  return found;
}

SeriesMoment series_moment(const model::Recording& recording, const model::Part& part,
                           const replay::SeriesGrid& column) {
  const replay::SeriesAxis axis(recording, part);
  const model::PointTable& points = recording.points;
  replay::SeriesGrid one = column;
  one.count = 1;
  SeriesMoment moment;
  moment.position = replay::column_edge(one, 0);
  int32_t told = -1;  // the point that says what happened
  if (part.series_are == SeriesAre::categories) {
    told = replay::series_stack(recording, part, axis, one).totals[0].point;
  } else {
    const int32_t shown = std::min(part.series.count, kMostCurves);
    for (int32_t series = 0; series < shown && told < 0; ++series) {
      const auto seen = replay::series_columns(recording, axis,
                                               recording.series.points[part.series.first + series], one)[0];
      if (seen.highest) told = seen.highest->point;
    }
  }
  if (told < 0) return moment;
  moment.label = points.label[told];
  moment.note = points.note[told];
  if (part.has_clock) moment.time_us = part.clock.microseconds(points.time[told]);
  return moment;
}

std::vector<FunctionCall> function_calls(const model::Recording& recording, const model::Part& part,
                                         int64_t first, int64_t count) {
  const replay::SeriesAxis axis(recording, part);
  const model::PointTable& points = recording.points;
  std::vector<FunctionCall> calls;
  for (const CallRows& of : call_rows(recording, part)) {
    const int64_t here = of.rows[0].count;
    for (int64_t i = std::max<int64_t>(first, 0); i < here && count > 0; ++i, --count) {
      const auto value = [&](size_t which) {
        const int64_t found = points.value[of.rows[which].first + i];
        return found == model::kNoValue ? std::nullopt : std::optional(found);
      };
      const int64_t row = of.rows[0].first + i;
      FunctionCall& call = calls.emplace_back();
      call.function = text_of(recording, points.label[row]);
      call.device = of.device;
      call.position = axis.position(points.time[row]);
      call.before = value(0);
      call.peak = value(1);
      call.after = value(2);
      call.net = value(3);
      if (const auto nanoseconds = value(4)) call.seconds = static_cast<double>(*nanoseconds) / 1e9;
    }
    first = std::max<int64_t>(first - here, 0);
  }
  return calls;
}

}  // namespace gpustrata::analysis
