// Where a settings text is wrong, for whoever shows it.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/alloc/config.h"

namespace gpustrata::alloc {

// apply_settings(). `place`: of an error, the byte of `text` at fault.
[[nodiscard]] Status apply_settings(Config& config, std::string_view text, size_t& place);

}  // namespace gpustrata::alloc
