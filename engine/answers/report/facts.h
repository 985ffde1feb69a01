// Facts of one device as a line of JSON: engine/fleet/README.md has the keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/analysis/categories/known_categories.h"
#include "engine/analysis/report/facts.h"
#include "engine/analysis/stacks/shown_stacks.h"
#include "engine/answers/common/failure.h"
#include "engine/answers/described/members.h"
#include "engine/model/diagnostics.h"
#include "engine/model/part.h"

namespace gpustrata::answers {

// The version of the lines, their member "gpustrata_facts".
inline constexpr int kFactsVersion = 1;
inline constexpr size_t kMostFactFrames = 32;

// Where a file belongs, as its names or somebody say.
struct FactsOrigin {
  std::string file;  // without its folders
  std::string run, host;
  std::optional<int64_t> rank, world_size;
  std::vector<model::LaunchGroup> groups;  // that the rank is in
};

struct FactsAnswer {
  const FactsOrigin& origin;
  const analysis::EventContext& context;
  const analysis::Facts& facts;
  const analysis::KnownCategories& categories;
  const model::Diagnostics& diagnostics;  // of reading the file and replaying the device
  analysis::ShownStacks& stacks;          // prepared
};

void describe(Members& m, const FactsAnswer& answer);

// The line of a file that could not be read: its origin and "error".
struct FailedFacts {
  const FactsOrigin& origin;
  const Failed& failed;
};
void describe(Members& m, const FailedFacts& answer);

}  // namespace gpustrata::answers
