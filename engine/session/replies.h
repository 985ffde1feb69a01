// The replies of the table in questions.cpp: each calls a View or a StateView and writes what it says.
#pragma once

#include "engine/session/questions.h"

namespace gpustrata::session::reply {

// An error about a filter: its offset in UTF-16 units of the text.
[[nodiscard]] Error in_units(std::string_view text, Error error);

// replies_of_files.cpp
Status contents(Asked& asked);
Status summary(Asked& asked);
Status peaks(Asked& asked);
Status fleet(Asked& asked);
Status open(Asked& asked);
Status release(Asked& asked);

// replies_of_views.cpp
Status picture(Asked& asked);
Status labels(Asked& asked);
Status highest(Asked& asked);
Status probe(Asked& asked);
Status group_places(Asked& asked);
Status group_probe(Asked& asked);
Status group_outline(Asked& asked);
Status block(Asked& asked);
Status outline(Asked& asked);
Status position(Asked& asked);
Status filter(Asked& asked);
Status match(Asked& asked);
Status complete(Asked& asked);
Status kinds(Asked& asked);
Status shares(Asked& asked);
Status marks(Asked& asked);

// replies_of_answers.cpp
Status prepare_report(Asked& asked);
Status report(Asked& asked);
Status never_freed(Asked& asked);
Status source_files(Asked& asked);
Status source_lines(Asked& asked);
Status facts(Asked& asked);
Status compare(Asked& asked);
Status curve(Asked& asked);
Status step_curve(Asked& asked);
Status region_curve(Asked& asked);
Status fragmentation(Asked& asked);
Status fragmentation_over(Asked& asked);
Status never_full(Asked& asked);

// replies_of_trees.cpp
Status range(Asked& asked);
Status flame(Asked& asked);
Status flame_rows(Asked& asked);
Status call_facts(Asked& asked);
Status holders(Asked& asked);
Status category(Asked& asked);
Status category_rules(Asked& asked);

// replies_of_series.cpp
Status series(Asked& asked);
Status series_picture(Asked& asked);
Status series_areas(Asked& asked);
Status series_moment(Asked& asked);
Status calls(Asked& asked);
Status operators(Asked& asked);
Status telemetry(Asked& asked);

// replies_of_ops.cpp
Status ops(Asked& asked);
Status profiler_table(Asked& asked);

// replies_of_lanes.cpp
Status lane_threads(Asked& asked);
Status lanes(Asked& asked);
Status span(Asked& asked);
Status ops_at(Asked& asked);

// replies_of_made_in.cpp
Status allocations(Asked& asked);
Status ops_of(Asked& asked);
Status op_paths(Asked& asked);
Status tell_made_in(Asked& asked);

// replies_of_states.cpp
Status prepare(Asked& asked);
Status states(Asked& asked);
Status filter_events(Asked& asked);
Status event_rows(Asked& asked);
Status row_of_event(Asked& asked);
Status event(Asked& asked);
Status find_event(Asked& asked);
Status totals(Asked& asked);
Status layout(Asked& asked);
Status state_sketch(Asked& asked);
Status state_pick(Asked& asked);
Status state_block(Asked& asked);
Status state_segment(Asked& asked);
Status owner(Asked& asked);
Status state_place(Asked& asked);
Status regions(Asked& asked);
Status address_map(Asked& asked);
Status region_of_block(Asked& asked);
Status block_of_rank(Asked& asked);
Status rank_of_block(Asked& asked);

// replies_of_runs.cpp
Status rehearsal(Asked& asked);
Status what_if(Asked& asked);
Status smallest_capacity(Asked& asked);
Status add_run(Asked& asked);
Status event_of_run(Asked& asked);
Status state_differences(Asked& asked);
Status tried_remedies(Asked& asked);

}  // namespace gpustrata::session::reply
