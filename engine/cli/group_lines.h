// Who asked for memory, as lines of a table: what `top` and `compare` print.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/top.h"

namespace memstrata::cli {

inline constexpr size_t kLongestLine = 160;  // bytes of a line in a table

// Of a stack the innermost eight frames; never empty.
[[nodiscard]] std::vector<std::string> lines_of_group(const model::Recording& recording,
                                                      const analysis::TopGroup& group, analysis::TopBy by);

[[nodiscard]] std::string_view heading_of(analysis::TopBy by);

}  // namespace memstrata::cli
