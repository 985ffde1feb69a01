// What can be opened in a file.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/analysis/report/contents.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

// `hash` tells the input from others.
void describe(Members& m, const analysis::Contents& contents, std::string_view hash);

// [[{"device","bytes"}]], a list for each snapshot.
void to_json(JsonWriter& json, std::span<const std::vector<analysis::DevicePeak>> peaks);

}  // namespace gpustrata::answers
