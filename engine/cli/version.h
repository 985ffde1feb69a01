// The version that `memstrata --version` prints: that of the top CMakeLists.txt.
#pragma once

#include <string_view>

namespace memstrata::cli {

inline constexpr std::string_view kVersion = MEMSTRATA_VERSION;

}  // namespace memstrata::cli
