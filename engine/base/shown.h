// Which characters can be seen. Others steer a terminal, hide something, or make a text look like another one.
#pragma once

#include <string_view>

namespace gpustrata::utf8 {

// Not shown: control characters, those that change the direction of what follows, separators of lines, characters
// without a width. One valid sequence.
[[nodiscard]] bool is_shown(std::string_view sequence);

}  // namespace gpustrata::utf8
