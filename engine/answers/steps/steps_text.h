// Steps and leaks in words.
#pragma once

#include <string>
#include <string_view>

#include "engine/analysis/steps/leaks.h"
#include "engine/analysis/steps/steps.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// "fit.py:12 to 40 in train_step, called at fit.py:97".
[[nodiscard]] std::string loop_text(const model::Recording& recording, const analysis::LoopPlace& loop);

// Why there are no steps: "nothing repeats". Empty where there are some.
[[nodiscard]] std::string_view why_no_steps(analysis::NoLoop why);

// "12 steps (marked by the profiler), no leak seen", "12 times fit.py:12 to 40 in train_step, called at fit.py:97; no leak seen".
[[nodiscard]] std::string steps_text(const model::Recording& recording, const analysis::Steps& steps,
                                     const analysis::Leaks& leaks);

// "grows by 1.5 MiB in 2 blocks per step, in 12 steps since step 0 (confidence 99 %)"
[[nodiscard]] std::string growth_text(const model::Recording& recording, const analysis::Leak& leak);
// The same as a sentence, with who asked for it.
[[nodiscard]] std::string leak_text(const model::Recording& recording, const analysis::Leak& leak);

// Terms of a filter (analysis/filter_syntax.h) for the blocks of a leak, but for their stack.
[[nodiscard]] std::string leak_terms(const analysis::Steps& steps, const analysis::Leak& leak);

}  // namespace gpustrata::answers
