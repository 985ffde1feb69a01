// Who holds memory, as the last column of a table: what `top` and `compare` print.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/live/top.h"

namespace gpustrata::answers {

// Lines of at most `columns`; never empty, printable. Of a stack the frames of the user's own code come first,
// innermost first, at most eight: "forward  …/model/attention.py:120"; of one without such frames who asked
// (analysis/stacks/own_frame.h) and the innermost frames. Then how many more there are; --json has all.
[[nodiscard]] std::vector<std::string> lines_of_group(const model::Recording& recording,
                                                      const analysis::TopGroup& group, analysis::By by,
                                                      size_t columns);

// --wide: nothing is cut but what is longer than anybody's name.
inline constexpr size_t kWide = 100'000;

[[nodiscard]] std::string_view heading_of(analysis::By by);

// The rows of a table, a cell of numbers and lines beside it.
// "  512.0 MiB   41.2%      12  forward  …/model/attention.py:120"
[[nodiscard]] std::string table_row(std::string_view numbers, const std::vector<std::string>& lines);

// Columns that are left beside `numbers`; enough for a name, however narrow the terminal is.
[[nodiscard]] size_t columns_beside(std::string_view numbers, size_t columns);

}  // namespace gpustrata::answers
