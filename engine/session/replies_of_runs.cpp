// What if: runs of the recorded requests of a view's device.
#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/analysis/compare/state_differences.h"
#include "engine/analysis/findings/operator_remedies.h"
#include "engine/analysis/what_if/confirmed_remedies.h"
#include "engine/analysis/what_if/what_if.h"
#include "engine/answers/findings/out_of_memory.h"
#include "engine/answers/what_if/what_if.h"
#include "engine/base/utf8.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

namespace {

// A recording that takes longer than that was made to; whoever waits may end it before (Session::end_when).
constexpr std::chrono::seconds kLongestQuestion{120};

// What was asked, ready to run; the sizes stay where they are.
struct Prepared {
  Prepared(const analysis::Rehearsal& of, Budget& budget) : rehearsal(of), changed(budget) {}

  const analysis::Rehearsal& rehearsal;
  analysis::ChangedSizes changed;
  analysis::Scenario scenario;
  analysis::WhatIfAnswer answer;
};

// Places of errors are of the text that is wrong: `inside` says which.
[[nodiscard]] Error located(Error error, std::string_view text, std::string_view name) {
  if (error.offset >= 0) error.offset = utf8::units_before(text, static_cast<size_t>(error.offset));
  error.inside = name;
  return error;
}

[[nodiscard]] Status prepare_run(const Asked& asked, Prepared& prepared) {
  AskedScenario given = asked.arguments.scenario("scenario");
  const analysis::Rehearsal& rehearsal = prepared.rehearsal;
  analysis::Scenario& scenario = prepared.scenario;
  analysis::WhatIfAnswer& answer = prepared.answer;
  scenario.config = rehearsal.config;
  answer.conf = given.conf ? std::string(*given.conf) : analysis::settings_text(rehearsal);
  if (given.conf) {
    auto config = analysis::settings_of(*given.conf);
    if (!config) return tl::unexpected(located(config.error(), *given.conf, "conf"));
    scenario.config = std::move(*config);
  }
  scenario.capacity = answer.capacity = given.capacity.value_or(rehearsal.capacity);
  if (scenario.capacity > 0) {
    if (auto usable = simulate::check_capacity(scenario.capacity); !usable)
      return tl::unexpected(located(usable.error(), "", "capacity"));
  }
  Budget& budget = asked.session.recording().budget;
  Device& device = asked.view->device();
  for (const analysis::Change& change : given.changes) {
    // One at a time, so that an error is that of its filter.
    const auto checked = analysis::changed_sizes(rehearsal, device, {&change, 1}, budget);
    if (!checked) return tl::unexpected(located(checked.error(), change.filter, "changes"));
  }
  if (!given.changes.empty()) {
    auto changed = analysis::changed_sizes(rehearsal, device, given.changes, budget);
    if (!changed) return tl::unexpected(changed.error());
    prepared.changed = std::move(*changed);
    scenario.sizes = prepared.changed.sizes.span();
    answer.asks_for_changes = true;
    answer.changed_blocks = prepared.changed.blocks;
    answer.unscaled_blocks = prepared.changed.unscaled;
  }
  // Behind the last event is after it.
  const int32_t last = rehearsal.device.rows.events.count - 1;
  for (analysis::ExtraRequest& extra : given.extra) {
    extra.after = std::min(extra.after, last);
    extra.until = std::min(extra.until, last);
  }
  for (int32_t& event : given.empty_cache_after) event = std::min(event, last);
  scenario.extra = answer.extra = std::move(given.extra);
  scenario.empty_cache_after = answer.empty_cache_after = std::move(given.empty_cache_after);
  scenario.caches = answer.caches = given.caching;
  answer.is_other = given.conf || given.capacity || !given.changes.empty() || !answer.extra.empty() ||
                    !answer.empty_cache_after.empty() || !answer.caches;
  return {};
}

// Calls `reply` with the scenario that is asked about.
template <typename Reply>
[[nodiscard]] Status with_scenario(Asked& asked, const analysis::GoesOn& goes_on, Reply&& reply) {
  const auto rehearsal = asked.view->device().rehearsal(goes_on);
  if (!rehearsal) return tl::unexpected(rehearsal.error());
  Prepared prepared(**rehearsal, asked.session.recording().budget);
  if (Status ready = prepare_run(asked, prepared); !ready) return ready;
  return reply(prepared);
}

Status rehearsal(Asked& asked) {
  const auto found = asked.view->device().rehearsal(asked.session.for_at_most(kLongestQuestion));
  if (!found) return tl::unexpected(found.error());
  answers::to_json(asked.json(), **found);
  return {};
}

Status what_if(Asked& asked) {
  const analysis::GoesOn goes_on = asked.session.for_at_most(kLongestQuestion);
  return with_scenario(asked, goes_on, [&](Prepared& prepared) -> Status {
    const int32_t columns = std::min(asked.arguments.integer("columns"), simulate::Levels::kMostColumns);
    const int32_t events = prepared.rehearsal.device.rows.events.count;
    simulate::Levels recorded(events, columns), simulated(events, columns);
    Budget& budget = asked.session.recording().budget;
    auto numbers = analysis::run_scenario(prepared.rehearsal, prepared.scenario, budget, goes_on, &simulated);
    if (!numbers) return tl::unexpected(numbers.error());
    prepared.answer.simulated = std::move(*numbers);
    if (Status found = analysis::recorded_levels(prepared.rehearsal, budget, recorded); !found) return found;
    answers::to_columns(asked.json(), asked.answer, prepared.rehearsal, prepared.answer,
                        answers::WhatIfCurves{recorded, simulated});
    return {};
  });
}

Status smallest_capacity(Asked& asked) {
  const analysis::GoesOn goes_on = asked.session.for_at_most(kLongestQuestion);
  return with_scenario(asked, goes_on, [&](Prepared& prepared) -> Status {
    const auto found = analysis::smallest_capacity(prepared.rehearsal, prepared.scenario,
                                                   asked.session.recording().budget, goes_on);
    if (!found) return tl::unexpected(found.error());
    asked.json().value(*found);
    return {};
  });
}

Status add_run(Asked& asked) {
  const analysis::GoesOn goes_on = asked.session.for_at_most(kLongestQuestion);
  return with_scenario(asked, goes_on, [&](Prepared& prepared) -> Status {
    const auto snapshot = asked.session.add_run(asked.view_id, prepared.scenario, goes_on);
    if (!snapshot) return tl::unexpected(snapshot.error());
    asked.json().value(*snapshot);
    return {};
  });
}

// The event of the run that stands where one of the view does.
[[nodiscard]] Result<int32_t> event_of(const Asked& asked) {
  const Column<int32_t>* const moments = asked.session.moments_of_run(asked.arguments.integer("snapshot"));
  if (moments == nullptr || static_cast<int32_t>(moments->size()) != asked.view->event_count())
    return fail(ErrorCode::wrong_usage, -1, "snapshot {} is no run of this device",
                asked.arguments.integer("snapshot"));
  const int32_t event = std::min(asked.arguments.integer("event"), static_cast<int32_t>(moments->size()) - 1);
  return event < 0 ? -1 : (*moments)[static_cast<size_t>(event)];
}

Status event_of_run(Asked& asked) {
  const auto event = event_of(asked);
  if (!event) return tl::unexpected(event.error());
  asked.json().value(*event);
  return {};
}

Status state_differences(Asked& asked) {
  const auto event = event_of(asked);
  if (!event) return tl::unexpected(event.error());
  const auto recorded = asked.view->device().states();
  if (!recorded) return tl::unexpected(recorded.error());
  const auto device =
      asked.session.device(asked.arguments.integer("snapshot"), asked.view->device().ordinal());
  if (!device) return tl::unexpected(device.error());
  const auto simulated = (*device)->states();
  if (!simulated) return tl::unexpected(simulated.error());
  if (auto there = (*recorded)->totals(asked.arguments.integer("event")); !there)
    return tl::unexpected(there.error());
  if (auto there = (*simulated)->totals(*event); !there) return tl::unexpected(there.error());
  answers::to_json(asked.json(),
                   analysis::state_differences((*recorded)->context(), (*recorded)->memory(),
                                               (*simulated)->context(), (*simulated)->memory()));
  return {};
}

Status tried_remedies(Asked& asked) {
  Device& device = asked.view->device();
  const auto states = device.states();
  if (!states) return tl::unexpected(states.error());
  const analysis::EventContext context = (*states)->context();
  Budget& budget = asked.session.recording().budget;
  replay::MemoryAt memory(context.history, budget);
  const auto lines = device.keys(analysis::By::line);
  if (!lines) return tl::unexpected(lines.error());
  auto events = analysis::explain_all_out_of_memory(context, memory, *lines);
  if (!events) return tl::unexpected(events.error());
  const auto steps = device.steps();
  if (!steps) return tl::unexpected(steps.error());
  if (Status done = analysis::add_needed_at_least(context, **steps, *events, *lines); !done) return done;
  if (Status done = analysis::add_operator_remedies(context, *events); !done) return done;
  if (analysis::has_remedy_to_try(*events)) {
    const analysis::GoesOn goes_on = asked.session.for_at_most(kLongestQuestion);
    const auto rehearsal = device.rehearsal(goes_on);
    // What cannot be run again stays untried.
    if (rehearsal) analysis::confirm_remedies(**rehearsal, *events, budget, goes_on);
  }
  answers::list_to_json(asked.json(), events->explained, context.recording);
  return {};
}

// clang-format off
constexpr Question kOfRuns[] = {
    // What if (engine/analysis/what_if/what_if.h): how exactly the recorded requests repeat, and settings worth a try.
    {"rehearsal", Of::states, "", "Rehearsal", rehearsal},
    // What a run of them comes to; curves over so many columns of the recorded events.
    {"whatIf", Of::states, "scenario: Scenario, columns: Pixels", "WhatIf", what_if},
    // The smallest device on which nothing is out of memory; about 15 runs.
    {"smallestCapacity", Of::states, "scenario: Scenario", "Bytes", smallest_capacity},
    // The run as one more snapshot of the file: its number. It takes the place of the run before; other views stay open.
    {"addRun", Of::states, "scenario: Scenario", "Count", add_run},
    // The event of such a run that stands where an event of the view does; -1 = before its first.
    {"eventOfRun", Of::states, "snapshot: Count, event: Event", "Event", event_of_run},
    // Pools and segments of the view after an event beside those of such a run there.
    {"stateDifferences", Of::states, "snapshot: Count, event: Event", "StateDifferences", state_differences},
    // `oom` of the report, with the settings among the remedies tried by a run.
    {"triedRemedies", Of::states, "", "ExplainedOutOfMemory[]", tried_remedies},
};
// clang-format on

}  // namespace

std::span<const Question> of_runs() { return kOfRuns; }

}  // namespace gpustrata::session::reply
