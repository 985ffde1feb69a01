// What was not recorded: a sentence, and the line that records it next time.
#pragma once

#include <string>

#include "engine/analysis/report/overview.h"

namespace gpustrata::answers {

struct MissingText {
  std::string text, python;
};
[[nodiscard]] MissingText missing_text(const analysis::Overview& overview, const analysis::Missing& missing);

}  // namespace gpustrata::answers
