// What was not recorded: a sentence, and the line that records it next time.
#pragma once

#include <string>

#include "engine/analysis/report/overview.h"

namespace gpustrata::answers {

struct MissingText {
  std::string text, python;
};
// `profiled`: a profiler told it, and records it next time.
[[nodiscard]] MissingText missing_text(const analysis::Overview& overview, const analysis::Missing& missing,
                                       bool profiled);

}  // namespace gpustrata::answers
