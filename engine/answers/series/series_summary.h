// Numbers over time as JSON of `gpustrata summary`; the shape is in engine/cli/README.md.
#pragma once

#include <span>

#include "engine/analysis/series/series_summary.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"

namespace gpustrata::answers {

// "counters", "categories", "operators".
[[nodiscard]] std::string_view name_of(model::SeriesAre are);

void describe_kind(Members& m, model::SeriesAre are);
void describe(Members& m, const analysis::CategoryTimeline& timeline);
// Members "series" and, of the first part whose series are categories, "timeline".
void describe_series(Members& m, std::span<const analysis::SeriesSummary> all);
// Lines of at most `columns`.
void to_text(TextOut& out, const analysis::SeriesSummary& series, size_t columns);

}  // namespace gpustrata::answers
