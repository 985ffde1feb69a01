// Counters of an allocator, and its findings in sentences: `gpustrata telemetry`.
#pragma once

#include <string>
#include <string_view>

#include "engine/analysis/series/telemetry.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// snake_case; of a flag gpumemprof's own word.
[[nodiscard]] std::string_view name_of(analysis::TelemetryFinding::Kind kind);
// One or two sentences.
[[nodiscard]] std::string text_of(const analysis::TelemetryFinding& finding);

void describe(Members& m, const analysis::Telemetry& telemetry);

// A line of the command.
struct TelemetryLine {
  std::string_view file;
  const model::Recording& recording;
  const analysis::Telemetry& telemetry;
};
void describe(Members& m, const TelemetryLine& line);
// Lines of at most `columns`.
void to_text(TextOut& out, const model::Recording& recording, const analysis::Telemetry& telemetry,
             std::string_view path, size_t columns);

}  // namespace gpustrata::answers
