// Memory by operator as JSON: `memstrata tracker --json`. Without the outer braces, so that callers can add members.
#pragma once

#include "engine/analysis/operator_compare.h"
#include "engine/analysis/operator_memory.h"
#include "engine/base/json_writer.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace memstrata::answers {

// "ops","retries"|null,"markers":{name: op},"peak":{"allocated_bytes","op"}|null,
// "active_peak_bytes","reserved_peak_bytes"|null,"unused":{"bytes","op","reserved_bytes"}|null,
// "top":[{"op","name","delta_bytes"}],"modules":[{"module","ops","delta_bytes"}],
// "phases":[{"name","first_op","last_op","ops","delta_bytes","peak":{"allocated_bytes","op"}}].
// Error: limit_exceeded; the recording's budget holds the text while it is written.
[[nodiscard]] Status to_json(JsonWriter& json, const model::Recording& recording,
                             const analysis::OperatorMemory& memory);

// "ops":{"before","after","growth"},"peak_bytes":{the same},"calls":{"matched","only_before","only_after","changed"},
// "changes":[{"module","operator","ordinal","op_before"|null,"op_after"|null,"bytes":{...}}],
// "modules":[{"module","ops":{...},"bytes":{...}}].
[[nodiscard]] Status to_json(JsonWriter& json, const analysis::OperatorComparison& comparison,
                             Budget& budget);

}  // namespace memstrata::answers
