// What would have been, as JSON and as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/compare/state_differences.h"
#include "engine/analysis/what_if/what_if.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// Members of an object, so that callers can add some:
//   "device","complete": false where the recording ends at a request that failed,"conf","capacity": n|null,"requests": n,"guesses":[{"name","count","text"}],
//   "fidelity":{"requests","same_place","reserved_error_bytes","first_deviation": event|null},
//   "recorded":{"peak_reserved_bytes","peak_allocated_bytes","device_allocs","device_frees","ooms"},
//   "simulated":{"peak_reserved_bytes","peak_allocated_bytes","peak_active_bytes","end_reserved_bytes",
//                "device_allocs","device_frees","alloc_retries","ooms",
//                "first_oom":{"event","requested_bytes"}|null}
// if it does not repeat exactly, "deviation":{"recorded","simulated": {"action","bytes","address"}|null,"text"}
// and, if asked for, "caching": false, "extra":[{"event","until": n|null,"requested_bytes","refused"}],
// "empty_cache_after":[event], "changed_blocks", "smallest_capacity_bytes", "search":[{"conf", and the members of
// "simulated"}]. Sizes are those of blocks; `allocated` as allocated_bytes.all of memory_stats(). `requests` are the
// rows that were run, `fidelity.requests` the allocations among them. Without a capacity the device has room for all.
void to_json(JsonWriter& json, const analysis::Rehearsal& rehearsal, const analysis::WhatIfAnswer& answer);

// For the page: {those members,"fidelity_text","recommendation","curves":{}}; the curves are columns.
void what_if_to_json(JsonWriter& json, const analysis::Rehearsal& rehearsal,
                     const analysis::WhatIfAnswer& answer);
// {"device","conf","settings_are_known","capacity": n|null,"requests","exact","fidelity_text",
//  "first_deviation": event|null,"guesses":[text],"tries":[conf]}
void rehearsal_to_json(JsonWriter& json, const analysis::Rehearsal& rehearsal);
// {"pools":[{"pool": "1, 0"|null,"small","recorded","simulated": {"segments","reserved","used","largest_free"}}],
//  "segments":[{"address","pool","small","recorded","simulated": {"reserved","used","largest_free"}|null}],
//  "segments_left_out","same_segments"}; pool null = the default one, a side null = no such segment
void to_json(JsonWriter& json, const analysis::StateDifferences& differences);

// The whole object as a line: "file", "snapshot" if it has a name, and those members.
[[nodiscard]] std::string what_if_json(std::string_view file, const analysis::Rehearsal& rehearsal,
                                       const analysis::WhatIfAnswer& answer);

// A table, what is guessed, a recommendation with its honesty. Lines of at most 80 characters; settings are the
// caller's own text.
[[nodiscard]] std::string to_text(const analysis::Rehearsal& rehearsal, const analysis::WhatIfAnswer& answer);

// One line: how well the repetition goes.
[[nodiscard]] std::string fidelity_text(const analysis::Rehearsal& rehearsal);
// Why, as far as the first event that differs tells; empty if none does.
[[nodiscard]] std::string deviation_text(const analysis::Rehearsal& rehearsal);
// What follows for who asked, and how far it can be believed.
[[nodiscard]] std::string recommendation(const analysis::Rehearsal& rehearsal,
                                         const analysis::WhatIfAnswer& answer);
[[nodiscard]] std::string guess_text(simulate::Guess guess, int64_t count);

}  // namespace gpustrata::answers
