// What could stand at the cursor of a filter.
#pragma once

#include "engine/analysis/filters/filter_completion.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// {"from": byte of the filter,"items":[{"text","says": in a few words}]}
void to_json(JsonWriter& json, const analysis::Completions& found);

}  // namespace gpustrata::answers
