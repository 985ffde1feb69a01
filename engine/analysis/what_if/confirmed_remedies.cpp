#include "engine/analysis/what_if/confirmed_remedies.h"

#include <algorithm>
#include <vector>

namespace gpustrata::analysis {

namespace {

[[nodiscard]] bool is_setting(const Remedy& remedy) { return remedy.kind == RemedyKind::expandable_segments; }

}  // namespace

bool has_remedy_to_try(const OutOfMemoryEvents& events) {
  if (events.explained.empty()) return false;
  const std::vector<Remedy>& remedies = events.explained.back().remedies;
  return std::any_of(remedies.begin(), remedies.end(), is_setting);
}

void confirm_remedies(const Rehearsal& rehearsal, OutOfMemoryEvents& events, Budget& budget,
                      const GoesOn& goes_on) {
  if (!has_remedy_to_try(events) || rehearsal.capacity == 0) return;
  Scenario scenario;
  scenario.config = rehearsal.config;
  scenario.capacity = rehearsal.capacity;
  const auto repeated = run_scenario(rehearsal, scenario, budget, goes_on);
  if (!repeated || repeated->ooms != rehearsal.recorded.ooms) return;
  scenario.config.expandable_segments = true;
  const auto tried = run_scenario(rehearsal, scenario, budget, goes_on);
  if (!tried) return;
  std::vector<Remedy>& remedies = events.explained.back().remedies;
  Remedy& remedy = *std::find_if(remedies.begin(), remedies.end(), is_setting);
  remedy.confirmed = tried->ooms == 0;
  remedy.reserved_then = tried->peak_reserved;
  remedy.reserved_before = rehearsal.requests.start.reserved;
}

}  // namespace gpustrata::analysis
