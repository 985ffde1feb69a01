// Numbers over time for a page, as JSON.
#pragma once

#include <span>

#include "engine/analysis/series/series_view.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::SeriesPart& part);
// After a column; a value for each series.
void describe(Members& m, const model::Recording& recording, const analysis::SeriesMoment& moment);
void describe(Members& m, const analysis::FunctionCall& call);
// What columns of numbers stand in: {"<name>":[{},{},...]}, `count` of them; {"<name>":[null,...]}.
void objects_to_json(JsonWriter& json, std::string_view name, size_t count);
void nulls_to_json(JsonWriter& json, std::string_view name, size_t count);

}  // namespace gpustrata::answers
