// Whether recordings can tell what fits at all, before their requests are matched.
#pragma once

#include "engine/analysis/fit/fit.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

// Errors: wrong_usage, in words for who recorded them.
[[nodiscard]] Status check_question(const FitQuestion& question);

}  // namespace gpustrata::analysis
