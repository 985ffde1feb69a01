// What a moment has several times over (analysis/live/repeats.h), in words and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/analysis/live/repeats.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// The first ones, of outer levels: enough to say in a report.
inline constexpr size_t kMostRepeatsSaid = 2;

// "16 times 1.3 GiB: 20.9 GiB (62 %), by model.py:407 to 410 in forward, called at model.py:579. Of each, 896.0 MiB are by forward
// model.py:340." and its inner levels. `all`: bytes of the moment.
[[nodiscard]] std::string repeat_text(const model::Recording& recording,
                                      const std::vector<analysis::Repeat>& repeats, size_t index,
                                      int64_t all);
// Indexes of those to say, most bytes first.
[[nodiscard]] std::vector<size_t> repeats_to_say(const std::vector<analysis::Repeat>& repeats);

void describe(Members& m, const model::Recording& recording, const analysis::Repeat& repeat);

}  // namespace gpustrata::answers
