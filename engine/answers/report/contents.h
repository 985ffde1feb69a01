// What can be opened in a file.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/analysis/report/contents.h"
#include "engine/answers/described/members.h"
#include "engine/answers/details/timeline_view.h"

namespace gpustrata::answers {

// `hash` tells the input from others.
void describe(Members& m, const analysis::Contents& contents, std::string_view hash);

struct FirstLook {
  const analysis::Contents& contents;
  std::string_view hash;
  std::optional<OpenedView> view;
};
void describe(Members& m, const FirstLook& look);

// [[{"device","bytes"}]], a list for each snapshot.
void to_json(JsonWriter& json, std::span<const std::vector<analysis::DevicePeak>> peaks);

}  // namespace gpustrata::answers
