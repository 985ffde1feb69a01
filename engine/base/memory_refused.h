// What is said when a budget has refused memory: ErrorCode::limit_exceeded.
#pragma once

#include <string_view>

#include "engine/base/budget.h"
#include "engine/base/status.h"

namespace gpustrata {

// "no memory to match the requests: 5 bytes are allowed, 9 needed"; `what`: "to match the requests".
[[nodiscard]] tl::unexpected<Error> memory_refused(const Budget& budget, std::string_view what);
// "not enough memory to look blocks up: 9 bytes would be needed".
[[nodiscard]] tl::unexpected<Error> not_enough_memory(const Budget& budget, std::string_view what);
// Of a file that is kept whole until its end.
[[nodiscard]] tl::unexpected<Error> file_refused(const Budget& budget);

}  // namespace gpustrata
