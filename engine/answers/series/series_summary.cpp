#include "engine/answers/series/series_summary.h"

#include "engine/answers/common/parts.h"
#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

namespace {

constexpr std::string_view kUnits[] = {"bytes", "ns"};

void describe_moment(Members& m, const analysis::CategoryTimeline& timeline,
                     const analysis::CategoryMoment& moment) {
  m.is("CategoryMoment");
  m.bytes("bytes", moment.bytes);
  m.microseconds("time_us", moment.time_us);
  m.by_name(
      As::bytes, "categories", timeline.categories, [](const auto& name) { return std::string_view(name); },
      [&](const auto& name) {
        return moment.levels[static_cast<size_t>(&name - timeline.categories.data())];
      });
}

}  // namespace

void describe(Members& m, const analysis::CategoryTimeline& timeline) {
  const auto one = [&](const analysis::CategoryMoment& moment) { describe_moment(m, timeline, moment); };
  m.is("CategoryTimeline");
  m.count("points", timeline.points);
  m.microseconds("first_us", timeline.first_us);
  m.microseconds("last_us", timeline.last_us);
  m.object("peak", timeline.peak, one);
  m.list({"course", "The highest moment of each piece of the time."}, timeline.course, one);
}

void describe_kind(Members& m, model::SeriesAre are) { m.word("of", are); }
std::string_view name_of(model::SeriesAre are) { return word_for(are); }

void describe_series(Members& m, std::span<const analysis::SeriesSummary> all) {
  m.list("series", all, [&](const analysis::SeriesSummary& part) {
    if (const auto there = m.when(!part.name.empty())) m.text("name", part.name);
    describe_kind(m, part.are);
    m.list("series", part.rows, [&](const analysis::SeriesRow& row) {
      m.text("name", [&] { return in_list(row.name); });
      m.count("device", device_or_null(row.device));
      m.word("unit", kUnits, kUnits[row.unit == model::Unit::bytes ? 0 : 1]);
      m.count("points", row.points);
      m.number("highest", row.highest);
    });
    if (const auto there = m.when(part.more > 0)) m.count("series_left_out", part.more);
  });
  const auto with_timeline =
      std::find_if(all.begin(), all.end(), [](const auto& part) { return part.timeline.has_value(); });
  if (const auto there = m.when(with_timeline != all.end())) {
    m.object({"timeline", "Of the first part that is categories."}, [&] {
      describe(m, m.is_schema() ? Members::sample<analysis::CategoryTimeline>() : *with_timeline->timeline);
    });
  }
}

}  // namespace gpustrata::answers
