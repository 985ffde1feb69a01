// What a device holds, for a comparison with another one; and that comparison, as JSON.
#pragma once

#include <span>

#include "engine/analysis/compare/carried_stacks.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// {"bytes","blocks","keys":[text],"places":[text],"sizes":[n],"counts":[n],"rest_bytes","rest_blocks",
//  "parts":[{"who","stack": its innermost lines|null,"filter","rank"}]}: one entry a stack in each list, largest first.
// All but `parts` is what the comparison takes.
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::CarriedStacks& stacks);

// ShownKey as 32 hexadecimal digits, and back; of a text that is none the hash of the text.
[[nodiscard]] std::string key_text(const analysis::ShownKey& key);
[[nodiscard]] analysis::ShownKey key_of_text(std::string_view text);

// Members "before_bytes","after_bytes","before_blocks","after_blocks","matched": "stack", "functions" or null.
void both_sides_to_json(JsonWriter& json, const analysis::ComparedPart& part);

// {"before":{"bytes","blocks"},"after":{...},
//  "matching":{"stack": pairs by all lines,"functions": pairs whose lines moved,"only_before","only_after": stacks,"text"},
//  "rows":[{"change","before": number of the stack|null,"before_bytes","after_bytes","before_blocks","after_blocks",
//           "matched","who","stack","filter","rank"}]: what changed, at most kMostComparedRows; of what is gone the last
//           four are null,
//  "same":{"rows","before_bytes","after_bytes"}, "other":{...}: changed, but beyond that number, "rest":{...}: not told
//           by the stacks}. Rows, same, other and rest add up to both sides.
inline constexpr size_t kMostComparedRows = 500;
void to_json(JsonWriter& json, const model::Recording& after, const analysis::CarriedStacks& stacks,
             const analysis::ComparedParts& parts);

}  // namespace gpustrata::answers
