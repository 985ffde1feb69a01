// Text from a file on its way to a terminal: nothing in it may act as a control sequence.
#pragma once

#include <string>
#include <string_view>

namespace gpustrata::answers {

// What a terminal would act on or not show becomes U+FFFD: invalid UTF-8, control characters (C0, DEL, C1),
// those that change the direction of what follows, separators of lines, and characters without a width.
[[nodiscard]] std::string printable(std::string_view text);
// The same, but line ends stay.
[[nodiscard]] std::string printable_lines(std::string_view text);
// The same, cut to about `bytes` with a sign that it was cut.
[[nodiscard]] std::string shortened(std::string_view text, size_t bytes);

}  // namespace gpustrata::answers
