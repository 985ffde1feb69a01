// The SQL files of this room, compiled in.
#pragma once

#include <string_view>

namespace gpustrata::fleet {

// The text of NAME.sql; empty if there is none.
[[nodiscard]] std::string_view query(std::string_view name);

}  // namespace gpustrata::fleet
