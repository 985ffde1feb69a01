// Who asked for memory, in words. analysis/stacks/own_frame.h decides who that is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// "cross_entropy_loss", "DivBackward0", "aten::addmm"; empty for nothing.
[[nodiscard]] std::string function_text(const analysis::Who& who);
// The file as it is recorded, also of nodes and operators; empty for nothing.
[[nodiscard]] std::string_view recorded_file(const model::Recording& recording, const analysis::Who& who);
// Line in that file, 0 = unknown.
[[nodiscard]] int32_t line_of(const model::Recording& recording, const analysis::Who& who);
// "cross_entropy_loss loss.py:22", "DivBackward0"; empty for nothing. Names are cut at 120 bytes.
[[nodiscard]] std::string who_text(const model::Recording& recording, const analysis::Who& who);

// A filter (analysis/filters/filter_syntax.h) that means the blocks that have it in their stack, and `terms` of it; none where it
// cannot be said in one.
[[nodiscard]] std::optional<std::string> filter_text(const model::Recording& recording,
                                                     const analysis::Who& who, std::string_view terms);

// who_text(), none for nothing.
[[nodiscard]] std::optional<std::string> who_or_none(const model::Recording& recording,
                                                     const analysis::Who& who);

}  // namespace gpustrata::answers
