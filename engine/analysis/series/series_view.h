// What a page shows of numbers over time: which curves go into one chart, what is marked on them, and what is so at a
// place. Positions are those of replay/series/series_picture.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/analysis/categories/category_timeline.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/series/series_picture.h"
#include "engine/replay/timeline.h"

namespace gpustrata::analysis {

struct SeriesCurve {
  int32_t series = 0;  // of the part, from 0
  std::string_view name;
  int32_t device = model::kUnknownDevice;
  int64_t points = 0;
  model::Unit unit = model::Unit::bytes;
  std::optional<int64_t> highest, lowest;  // in its unit
  // Number of the chart it is drawn in, -1 = in none: it is no bytes, or has no values. Curves of one device share a chart as
  // long as the highest is at most kOneScale times the highest of any other: else one of them would be a flat line.
  int32_t chart = -1;
};
inline constexpr int64_t kOneScale = 8;

// What is marked on the axis: a marker of the program, an alert of the profiler.
struct SeriesMark {
  int64_t position = 0;
  int32_t device = model::kUnknownDevice;
  std::string_view name;  // "fw_bw_boundary", "critical"
  std::string_view note;  // a sentence; may be empty
};

struct SeriesPart {
  int32_t part = 0;  // index in Recording::parts
  std::string_view name;
  model::SeriesAre are = model::SeriesAre::counters;
  bool has_clock = false;
  int64_t extent = 0;                        // of the axis
  int64_t first_step = 0;                    // without a clock: the number of the step at 0
  std::optional<int64_t> first_us, last_us;  // since 1970
  std::vector<SeriesCurve> curves;           // at most kMostCurves; without a chart those of marks and calls
  int64_t curves_left_out = 0;
  std::vector<SeriesMark> marks;  // the first kMostMarks
  int64_t marks_left_out = 0;
  int64_t calls = 0;                         // of profiled functions
  std::optional<CategoryTimeline> timeline;  // where the series are categories, in kTablePieces
};
inline constexpr int32_t kMostCurves = 256;
inline constexpr size_t kMostSeriesMarks = 1000;
inline constexpr size_t kTablePieces = 48;
inline constexpr size_t kMostSeriesParts = 256;

// Of all parts that have series, at most kMostSeriesParts. O(points).
[[nodiscard]] std::vector<SeriesPart> find_series_parts(const model::Recording& recording);

// Null: it has no series, or is none.
[[nodiscard]] const model::Part* series_part(const model::Recording& recording, int32_t part);

// What columns of a part show. Categories add up: each has what it has at the moment of the highest total.
class SeriesLevels {
 public:
  // Refers to both.
  SeriesLevels(const model::Recording& recording, const model::Part& part, const replay::SeriesGrid& grid);
  [[nodiscard]] replay::LevelValues of(int32_t series) const;  // of the part

 private:
  const model::Recording& recording_;
  const model::Part& part_;
  replay::SeriesGrid grid_;
  replay::SeriesAxis axis_;
  replay::SeriesStack stack_;  // of categories
};

// What happened in a column.
struct SeriesMoment {
  int64_t position = 0;            // of the column's beginning
  std::optional<int64_t> time_us;  // since 1970, of the point that the first series shows
  StringId label, note;            // of that point: an operator, a kind of event, a category
};
[[nodiscard]] SeriesMoment series_moment(const model::Recording& recording, const model::Part& part,
                                         const replay::SeriesGrid& column);

// A call of a profiled function.
struct FunctionCall {
  std::string_view function;
  int32_t device = model::kUnknownDevice;
  int64_t position = -1;                            // -1 = the file says no time
  std::optional<int64_t> before, peak, after, net;  // bytes
  std::optional<double> seconds;
};
// Those numbered [first, first + count) of a part, device by device.
[[nodiscard]] std::vector<FunctionCall> function_calls(const model::Recording& recording,
                                                       const model::Part& part, int64_t first, int64_t count);

}  // namespace gpustrata::analysis
