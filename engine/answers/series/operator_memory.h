// Memory by operator: `gpustrata tracker`.
#pragma once

#include <string_view>

#include "engine/analysis/series/operator_compare.h"
#include "engine/analysis/series/operator_memory.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

void describe(Members& m, const model::Recording& recording, const analysis::OperatorMemory& memory);

struct NamedRecording {
  std::string_view file;
  const model::Recording& recording;
};
// Lines of the command: of one file, and of two.
struct TrackerLine {
  NamedRecording of;
  const analysis::OperatorMemory& memory;
};
void describe(Members& m, const TrackerLine& line);
struct TrackerComparison {
  NamedRecording before, after;
  const analysis::OperatorComparison& comparison;
};
void describe(Members& m, const TrackerComparison& line);

// Lines of at most `columns`.
void to_text(TextOut& out, const model::Recording& recording, const analysis::OperatorMemory& memory,
             std::string_view file, size_t columns);
void to_text(TextOut& out, const analysis::OperatorComparison& comparison, std::string_view before,
             std::string_view after, size_t columns);

}  // namespace gpustrata::answers
