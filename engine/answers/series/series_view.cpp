#include "engine/answers/series/series_view.h"

#include <limits>
#include <optional>

#include "engine/answers/common/parts.h"
#include "engine/answers/series/series_summary.h"
#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::SeriesPart& part) {
  m.is({"SeriesPart", "A part of the file that is numbers over time."});
  m.count("part", part.part);
  m.text("name", [&] { return in_list(part.name); });
  describe_kind(m, part.are);
  m.flag({"has_clock", "Its axis runs in microseconds, else in steps."}, part.has_clock);
  m.axis("extent", part.extent);
  m.count({"first_step", "The number of the step at 0."}, part.first_step);
  m.microseconds("first_us", part.first_us);
  m.microseconds("last_us", part.last_us);
  m.list("curves", part.curves, [&](const analysis::SeriesCurve& curve) {
    m.is("SeriesCurve");
    m.count("series", curve.series);
    m.text("name", [&] { return in_list(curve.name); });
    m.count("device", device_or_null(curve.device));
    m.count("points", curve.points);
    m.bytes("highest", curve.highest);
    m.bytes("lowest", curve.lowest);
    m.count({"chart", "Curves that are drawn in one chart have one number; -1 = in none."}, curve.chart);
  });
  m.count("curves_left_out", part.curves_left_out);
  m.list("marks", part.marks, [&](const analysis::SeriesMark& mark) {
    m.is("SeriesMark");
    m.axis("position", mark.position);
    m.count("device", device_or_null(mark.device));
    m.text("name", [&] { return in_list(mark.name); });
    m.text("note", [&] { return in_list(mark.note); });
  });
  m.count("marks_left_out", part.marks_left_out);
  m.count({"calls", "Of profiled functions."}, part.calls);
  m.object({"timeline", "Of categories."}, part.timeline,
           [&](const analysis::CategoryTimeline& timeline) { describe(m, timeline); });
}

void describe(Members& m, const model::Recording& recording, const analysis::SeriesMoment& moment) {
  m.is("SeriesMoment");
  m.axis("position", moment.position);
  m.microseconds("time_us", moment.time_us);
  m.text({"label", "What happened then: an operator, a kind of event, a category."},
         [&] { return text_or_none(recording, moment.label); });
  m.text("note", [&] { return text_or_none(recording, moment.note); });
  m.values(As::bytes, {"values", "Of each series."}, moment.values,
           [](const analysis::SeriesMoment::Value& one) { return one.value; });
}

void describe(Members& m, const analysis::FunctionCall& call) {
  m.is("FunctionCall");
  m.text("function", [&] { return in_list(call.function); });
  m.count("device", device_or_null(call.device));
  m.axis("position", call.position < 0 ? std::nullopt : std::optional(call.position));
  m.bytes("before", call.before);
  m.bytes("peak", call.peak);
  m.bytes("after", call.after);
  m.bytes("net", call.net);
  m.number("seconds", call.seconds);
}

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

[[nodiscard]] double number_of(const std::optional<replay::SeriesSpot>& spot) {
  return spot ? static_cast<double>(spot->value) : kNoNumber;
}

}  // namespace

void describe(Members& m, const SeriesPicture& picture) {
  m.is({"SeriesPicture", "A value for each column; NaN before the first."});
  m.of_columns("curves", picture.series, [&](size_t i) {
    const auto columns = m.found([&] { return picture.columns_of(i); });
    m.column(As::number, "highest", columns,
             [](const replay::SeriesColumn& one) { return number_of(one.highest); });
    m.column(As::number, "lowest", columns,
             [](const replay::SeriesColumn& one) { return number_of(one.lowest); });
  });
}

void describe(Members& m, const replay::SeriesStack& stack) {
  m.is("SeriesAreas");
  m.columns(As::number, {"levels", "Of each category but the total, which comes first among the curves."},
            stack.categories, stack.totals, [&](size_t category, const replay::SeriesSpot& total) {
              const auto column = static_cast<size_t>(&total - stack.totals.data());
              return total.point < 0
                         ? kNoNumber
                         : static_cast<double>(stack.levels[column * stack.categories + category]);
            });
}

}  // namespace gpustrata::answers
