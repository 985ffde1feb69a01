// What can be opened in a file.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/analysis/report/contents.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// {"format","hash": tells the input from others,"snapshots":[{"name","devices":[{"device","events","segments",
//  "oom":{"count","events":[n]}}],
//  "default": device|null}],"default":{"snapshot","device"}|null,"series": parts of numbers over time,"fleets": parts of many ranks,"is_trace","diagnostics"}
void to_json(JsonWriter& json, const analysis::Contents& contents, std::string_view hash);

// [[{"device","bytes"}]], a list for each snapshot.
void to_json(JsonWriter& json, std::span<const std::vector<analysis::DevicePeak>> peaks);

}  // namespace gpustrata::answers
