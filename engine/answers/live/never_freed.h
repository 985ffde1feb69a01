// What came and is never freed, by line, as JSON.
#pragma once

#include <cstdint>

#include "engine/analysis/live/top.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// {"bytes","blocks","filter": all of them,"rows":[{"who","bytes","blocks","rank","filter"}],
//  "other":{"bytes","blocks","rows"}}: rows and other add up.
void never_freed_to_json(JsonWriter& json, const model::Recording& recording, const analysis::Top& found,
                         int32_t from);

}  // namespace gpustrata::answers
