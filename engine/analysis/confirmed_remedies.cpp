#include "engine/analysis/confirmed_remedies.h"

namespace memstrata::analysis {

void confirm_remedies(replay::Device& device, OutOfMemoryEvents& events, Budget& budget,
                      const GoesOn& goes_on) {
  if (events.explained.empty()) return;
  for (Remedy& remedy : events.explained.back().remedies) {
    if (remedy.kind != RemedyKind::expandable_segments) continue;
    const auto rehearsal = rehearse(device, budget, goes_on);
    if (!rehearsal || rehearsal->capacity == 0) return;
    Scenario scenario;
    scenario.config = rehearsal->config;
    scenario.capacity = rehearsal->capacity;
    const auto repeated = run_scenario(*rehearsal, scenario, budget, goes_on);
    if (!repeated || repeated->ooms != rehearsal->recorded.ooms) return;
    scenario.config.expandable_segments = true;
    const auto tried = run_scenario(*rehearsal, scenario, budget, goes_on);
    if (!tried) return;
    remedy.confirmed = tried->ooms == 0;
    remedy.reserved_then = tried->peak_reserved;
  }
}

}  // namespace memstrata::analysis
