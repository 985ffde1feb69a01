// Numbers over time for a page, as JSON.
#pragma once

#include <span>

#include "engine/analysis/series/series_view.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// [{"part","name","of":"counters"|"categories"|"operators","has_clock","extent","first_step","first_us"|null,"last_us"|null,
//   "curves":[{"series","name","device"|null,"points","highest"|null,"lowest"|null,"chart"}],"curves_left_out",
//   "marks":[{"position","device"|null,"name","note"}],"marks_left_out","calls","timeline"|null}]; the timeline as in
// `gpustrata summary`.
void to_json(JsonWriter& json, std::span<const analysis::SeriesPart> parts);

// {"position","time_us"|null,"label"|null,"note"|null,"values":[bytes|null]}, a value for each series.
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::SeriesMoment& moment);

// [{"function","device"|null,"position"|null,"before"|null,"peak"|null,"after"|null,"net"|null,"seconds"|null}]
void to_json(JsonWriter& json, std::span<const analysis::FunctionCall> calls);

// What columns of numbers stand in: {"<name>":[{},{},...]}, `count` of them; {"<name>":[null,...]}.
void objects_to_json(JsonWriter& json, std::string_view name, size_t count);
void nulls_to_json(JsonWriter& json, std::string_view name, size_t count);

}  // namespace gpustrata::answers
