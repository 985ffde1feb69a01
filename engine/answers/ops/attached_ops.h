// How many allocations of a snapshot were given ops of a trace, and what of the two could not be brought together.
#pragma once

#include <string>

#include "engine/answers/described/members.h"
#include "engine/replay/attached_ops.h"

namespace gpustrata::answers {

void describe(Members& m, const replay::AttachedOps& attached);
// Lines. Where the two do not lie in the same time, by how much, and what mends it.
[[nodiscard]] std::string to_text(const replay::AttachedOps& attached);

}  // namespace gpustrata::answers
