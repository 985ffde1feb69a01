// What was noticed in a file, as lines for the terminal.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/analysis/summary.h"

namespace memstrata::cli {

enum class Remarks : uint8_t { shown, left_out };  // findings that are nobody's loss

// "    warning  Text [3 times, first at byte 1,234 of a.pickle]", a line each.
[[nodiscard]] std::string finding_lines(std::span<const analysis::Finding> findings, Remarks remarks);

}  // namespace memstrata::cli
