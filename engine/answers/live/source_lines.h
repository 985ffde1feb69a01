// Memory by line of source, as JSON.
#pragma once

#include <span>

#include "engine/analysis/live/source_lines.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// {"lines":[{"line","own_bytes","own_blocks","bytes","blocks"}],"lines_left_out"}
void to_json(JsonWriter& json, const analysis::SourceLines& found);
// [{"file","bytes","blocks"}]
void to_json(JsonWriter& json, const model::Recording& recording, std::span<const analysis::TopGroup> files);

}  // namespace gpustrata::answers
