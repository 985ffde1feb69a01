// Which journals a process writes: those that it, or else a process that it began, has mapped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace gpustrata::cli {

// The number of a process in digits alone.
[[nodiscard]] bool is_process(std::string_view text);

// Paths, each once, in order. Error: wrong_usage, there is no such process or none writes a journal.
[[nodiscard]] Result<std::vector<std::string>> journals_written_by(const std::string& process);

}  // namespace gpustrata::cli
