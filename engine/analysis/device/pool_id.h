// Ids of memory pools in answers: two unsigned numbers, as PyTorch's C++ has them. (0, 0) is the default
// pool.
#pragma once

#include <string>
#include <string_view>

#include "engine/model/recording.h"

namespace gpustrata::analysis {

// "1, 0"
[[nodiscard]] std::string pool_text(const model::Pool& pool, std::string_view separator = ", ");

}  // namespace gpustrata::analysis
