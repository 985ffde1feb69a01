// The kinds that blocks are coloured by, with their names.
#pragma once

#include <string>
#include <string_view>

#include "engine/analysis/live/block_groups.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// "forward train.py:42", "stream 7", "1 to 10 MiB", "9 others"
[[nodiscard]] std::string kind_text(const model::Recording& recording, const analysis::BlockGroups& groups,
                                    const analysis::BlockGroups::Kind& kind);

void describe(Members& m, const model::Recording& recording, const analysis::BlockGroups& groups);

}  // namespace gpustrata::answers
