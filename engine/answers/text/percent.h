// Shares as they stand in sentences.
#pragma once

#include <cstdint>
#include <string>

namespace gpustrata::answers {

// "12 %", "3.4 %" below ten, "below 0.1 %" for less that is not nothing; "0 %" of nothing.
[[nodiscard]] std::string percent_text(int64_t part, int64_t whole);

}  // namespace gpustrata::answers
