// Text from a file on its way to a terminal: nothing in it may act as a control sequence.
#pragma once

#include <string>
#include <string_view>

namespace memstrata::cli {

// Invalid UTF-8 and control characters (C0, DEL, C1) become U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);
// The same, cut to about `bytes` with a sign that it was cut.
[[nodiscard]] std::string shortened(std::string_view text, size_t bytes);

}  // namespace memstrata::cli
