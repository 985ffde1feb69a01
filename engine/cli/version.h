// The version that `gpustrata --version` prints: that of the top CMakeLists.txt.
#pragma once

#include <string_view>

namespace gpustrata::cli {

inline constexpr std::string_view kVersion = GPUSTRATA_VERSION;

}  // namespace gpustrata::cli
