// What a device holds, for a comparison with another one; and that comparison, as JSON.
#pragma once

#include <span>

#include "engine/analysis/compare/carried_stacks.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// All but `parts` is what the comparison takes.
void describe(Members& m, const model::Recording& recording, const analysis::CarriedStacks& stacks);

// ShownKey as 32 hexadecimal digits, and back; of a text that is none the hash of the text.
[[nodiscard]] std::string key_text(const analysis::ShownKey& key);
[[nodiscard]] analysis::ShownKey key_of_text(std::string_view text);

void describe_both_sides(Members& m, const analysis::ComparedPart& part);

// At most so many rows that changed.
inline constexpr size_t kMostComparedRows = 500;
void describe(Members& m, const model::Recording& after, const analysis::CarriedStacks& stacks,
              const analysis::ComparedParts& parts);

}  // namespace gpustrata::answers
