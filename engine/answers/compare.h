// What grew between two recordings, as JSON.
#pragma once

#include "engine/analysis/compare.h"
#include "engine/base/json_writer.h"
#include "engine/base/status.h"

namespace memstrata::answers {

// Members "requested_bytes" and "blocks", each {"before","after","growth"}, "groups_changed",
// "groups_unchanged", "rows":[{"bytes":{...},"blocks":{...}, and those of group_to_json() in top.h}],
// "other":{"bytes":{...},"blocks":{...}}. Error: limit_exceeded.
[[nodiscard]] Status to_json(JsonWriter& json, const analysis::Side& before, const analysis::Side& after,
                             const analysis::Comparison& comparison);

// {"in_both","in_both_bytes","only_before_bytes","only_after_bytes","only_before":[{"address":"0x...",
// "total_size"}],"only_after":[...]}. Error: limit_exceeded.
[[nodiscard]] Status to_json(JsonWriter& json, const analysis::ComparedSegments& segments, Budget& budget);

}  // namespace memstrata::answers
