// Sentences for why there is no stack.
#pragma once

#include <string_view>

#include "engine/analysis/stacks/no_stack_reasons.h"

namespace gpustrata::answers {

[[nodiscard]] std::string_view to_text(analysis::NoStackReason reason);

}  // namespace gpustrata::answers
