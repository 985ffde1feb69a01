// What was not recorded: a sentence, and the line that records it next time.
#pragma once

#include <string>
#include <string_view>

#include "engine/analysis/report/overview.h"

namespace gpustrata::answers {

// Of a profiler's trace that has memory of the processor alone.
inline constexpr std::string_view kNoGpu = "The file has no memory records of a GPU.";

struct MissingText {
  std::string text, python;
};
// `profiled`: a profiler told it, and records it next time.
[[nodiscard]] MissingText missing_text(const analysis::Overview& overview, const analysis::Missing& missing,
                                       bool profiled);

}  // namespace gpustrata::answers
