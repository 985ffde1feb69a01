// A fleet in words, for a terminal: findings first, then what was not as it should be, then the ranks that hold most.
#pragma once

#include <cstddef>

#include "engine/answers/text_out.h"
#include "engine/model/fleet.h"

namespace memstrata::answers {

// Lines of at most `columns`, as far as words allow; printable.
void to_text(TextOut& out, const model::Fleet& fleet, size_t columns);

}  // namespace memstrata::answers
