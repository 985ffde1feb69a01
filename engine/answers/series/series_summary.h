// Numbers over time as JSON of `gpustrata summary`; the shape is in engine/cli/README.md.
#pragma once

#include <span>

#include "engine/analysis/series/series_summary.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// "counters", "categories", "operators".
[[nodiscard]] std::string_view name_of(model::SeriesAre are);

// {"points","first_us"|null,"last_us"|null,"peak":{"bytes","time_us"|null,"categories":{name: bytes}}|null,"course":[peaks of
// pieces]}.
void timeline_to_json(JsonWriter& json, const analysis::CategoryTimeline& timeline);

// Members "series" and, of the first part whose series are categories, "timeline".
void series_to_json(JsonWriter& json, std::span<const analysis::SeriesSummary> all);

// Lines of at most `columns`.
void to_text(TextOut& out, const analysis::SeriesSummary& series, size_t columns);

}  // namespace gpustrata::answers
