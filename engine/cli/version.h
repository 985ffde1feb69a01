// The version that `memstrata --version` prints. Same as in CMakeLists.txt; a test compares the two.
#pragma once

#include <string_view>

namespace memstrata::cli {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace memstrata::cli
