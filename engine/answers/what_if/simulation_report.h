// The outcome of a simulation as text: JSON for programs, tables for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/answers/text/text_out.h"
#include "engine/base/budget.h"
#include "engine/base/json_writer.h"
#include "engine/base/status.h"
#include "engine/simulate/simulation.h"

namespace gpustrata::answers {

// One object, one line. All numbers are those after the last step.
//   trace     "action place size[ @stream]" per event; oom: "free=BYTES" for the place, snapshot: "-"
//   bytes     current [allocated, active, requested, reserved, inactive_split]
//   count     current [allocation, active, segment, inactive_split]
//   peak      [allocated, active, reserved]
//   ctr       [num_alloc_retries, num_ooms, num_sync_all_streams, num_device_alloc, num_device_free]
//   oversize  [[current, peak, allocated, freed] of oversize_allocations, the same of oversize_segments];
//             absent if all are 0
//   layout    per segment, or mapped range of an expandable one: place, S(mall) or L(arge), x = expandable,
//             pA.B = private pool, @stream, blocks: A allocated, P pending free, - free
//   oom       per error {tried, total, free, allowed if limited, allocated, private if above 0,
//             unallocated} as printed; absent without an error
//   stats     every key of memory_stats()
//   results   per step {line, step} and, of m: {place, size of the block} or {oom: the message};
//             of f and rs of an allocation that failed: {ignored: true}
void to_json(JsonWriter& json, const simulate::Simulation& simulation);

// Steps with their results, the layout of the segments, memory_summary().
void to_text(TextOut& out, const simulate::Simulation& simulation);

// The whole way from a script to the JSON: what the page's engine answers; charged. Errors: those of simulate().
[[nodiscard]] Result<std::string> simulate_json(std::string_view script, int64_t device_bytes,
                                                std::string_view conf, Budget& budget);

}  // namespace gpustrata::answers
