// A flame graph as folded lines, as JSON and as a picture. Long answers go out in pieces.
#pragma once

#include <string_view>

#include "engine/analysis/folded_stacks.h"
#include "engine/answers/sink.h"
#include "engine/base/json_writer.h"

namespace memstrata::answers {

// One line each: text, a space, bytes. Pieces end with a line. Error: io_error if the sink refuses.
[[nodiscard]] Status folded_to_text(const analysis::FoldedStacks& stacks, const Sink& sink);

// {text: bytes,...}. The writer is drained into the sink. Errors as above.
[[nodiscard]] Status folded_to_json(JsonWriter& json, const analysis::FoldedStacks& stacks, const Sink& sink);

// A standing picture of its own: no script, no font and nothing else from outside; every rectangle has its
// text and exact bytes as a title. Rectangles narrower than a tenth of a pixel are left out, and where more
// than 200,000 were left, narrower ones too; their bytes stay in what is below them. Errors as above.
[[nodiscard]] Status flame_to_svg(const analysis::FoldedStacks& stacks, std::string_view title,
                                  const Sink& sink);

}  // namespace memstrata::answers
