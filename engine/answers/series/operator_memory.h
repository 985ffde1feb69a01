// Memory by operator as JSON: `gpustrata tracker --json`. Without the outer braces, so that callers can add members.
#pragma once

#include <string_view>

#include "engine/analysis/series/operator_compare.h"
#include "engine/analysis/series/operator_memory.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// "ops","retries"|null,"markers":{name: op},"peak":{"allocated_bytes","op"}|null,
// "active_peak_bytes","reserved_peak_bytes"|null,"unused":{"bytes","op","reserved_bytes"}|null,
// "top":[{"op","name","delta_bytes"}],"modules":[{"module","ops","delta_bytes"}],
// "phases":[{"name","first_op","last_op","ops","delta_bytes","peak":{"allocated_bytes","op"}}].
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::OperatorMemory& memory);

// "ops":{"before","after","growth"},"peak_bytes":{the same},"calls":{"matched","only_before","only_after","changed"},
// "changes":[{"module","operator","ordinal","op_before"|null,"op_after"|null,"bytes":{...}}],
// "modules":[{"module","ops":{...},"bytes":{...}}].
void to_json(JsonWriter& json, const analysis::OperatorComparison& comparison);

// The first of these as an object of its own.
void operators_to_json(JsonWriter& json, const model::Recording& recording,
                       const analysis::OperatorMemory& memory);

// A line with the members above beside {"file","format",...,"diagnostics"}.
void write_json_line(TextOut& out, const model::Recording& recording, const analysis::OperatorMemory& memory,
                     std::string_view file);
struct NamedRecording {
  std::string_view file;
  const model::Recording& recording;
};
// The same of two: {"before","after",...,"diagnostics_before","diagnostics_after"}.
void write_json_line(TextOut& out, const analysis::OperatorComparison& comparison,
                     const NamedRecording& before, const NamedRecording& after);

// Lines of at most `columns`.
void to_text(TextOut& out, const model::Recording& recording, const analysis::OperatorMemory& memory,
             std::string_view file, size_t columns);
void to_text(TextOut& out, const analysis::OperatorComparison& comparison, std::string_view before,
             std::string_view after, size_t columns);

}  // namespace gpustrata::answers
