// Sizes and shares as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpustrata::cli {

// "20GiB", "512 MiB", "1000000" (bytes), also GB, G, g; none = no size.
[[nodiscard]] std::optional<int64_t> size_in(std::string_view text);
// "2%", "0.02"; none = no share.
[[nodiscard]] std::optional<double> share_in(std::string_view text);

}  // namespace gpustrata::cli
