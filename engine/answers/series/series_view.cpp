#include "engine/answers/series/series_view.h"

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

}  // namespace gpustrata::answers
