// Sentences for why there is no stack.
#pragma once

#include <string_view>

#include "engine/analysis/no_stack_reasons.h"

namespace memstrata::answers {

[[nodiscard]] std::string_view to_text(analysis::NoStackReason reason);

}  // namespace memstrata::answers
