// Counters of an allocator as JSON, and its findings in sentences: `gpustrata telemetry`.
#pragma once

#include <string>
#include <string_view>

#include "engine/analysis/series/telemetry.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// snake_case; of a flag gpumemprof's own word.
[[nodiscard]] std::string_view name_of(analysis::TelemetryFinding::Kind kind);
// One or two sentences.
[[nodiscard]] std::string text_of(const analysis::TelemetryFinding& finding);

// "samples","devices":[{"device": ordinal, -1 = CPU | null,"samples","peak_allocated_bytes","peak_reserved_bytes"}],
// "functions":[{"name","calls","total_time_s","net_bytes","peak_bytes","peak_over_entry_bytes"}], bytes null where the file
// does not say them,
// "findings":[{"name","by":"gpustrata"|"gpumemprof","severity","device"|null,"text"}]; without the outer braces.
void to_json(JsonWriter& json, const analysis::Telemetry& telemetry);

// The same as an object of its own.
void telemetry_to_json(JsonWriter& json, const analysis::Telemetry& telemetry);

// A line with these members beside {"file","format",...,"diagnostics"}.
void write_json_line(TextOut& out, const model::Recording& recording, const analysis::Telemetry& telemetry,
                     std::string_view path);
// Lines of at most `columns`.
void to_text(TextOut& out, const model::Recording& recording, const analysis::Telemetry& telemetry,
             std::string_view path, size_t columns);

}  // namespace gpustrata::answers
