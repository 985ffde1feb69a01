// A flame graph as folded lines, as JSON and as a picture.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/analysis/calls/folded_stacks.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"

namespace gpustrata::answers {

// One line each: text, a space, bytes.
void folded_to_text(TextOut& out, const analysis::FoldedStacks& stacks);

void describe(Members& m, const analysis::FoldedStacks& stacks, int32_t device, int32_t event, bool damaged);

// A standing picture of its own: no script, no font and nothing else from outside; every rectangle has its
// text and exact bytes as a title. Rectangles narrower than a tenth of a pixel are left out, and where more
// than 200,000 were left, narrower ones too; their bytes stay in what is below them.
void flame_to_svg(TextOut& out, const analysis::FoldedStacks& stacks, std::string_view title);

}  // namespace gpustrata::answers
