// What would have been, as JSON and as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/compare/state_differences.h"
#include "engine/analysis/what_if/what_if.h"
#include "engine/answers/described/members.h"
#include "engine/simulate/levels.h"

namespace gpustrata::answers {

// Sizes are those of blocks; `allocated` as allocated_bytes.all of memory_stats(). For the page, with its curves:
struct WhatIfCurves {
  const simulate::Levels &recorded, &simulated;
};
void describe(Members& m, const analysis::Rehearsal& rehearsal, const analysis::WhatIfAnswer& answer,
              const WhatIfCurves& curves);
// A line of the command.
struct WhatIfLine {
  std::string_view file;
  const analysis::Rehearsal& rehearsal;
  const analysis::WhatIfAnswer& answer;
};
void describe(Members& m, const WhatIfLine& line);
void describe(Members& m, const analysis::Rehearsal& rehearsal);
void describe(Members& m, const analysis::StateDifferences& differences);
// A table, what is guessed, a recommendation with its honesty. Lines of at most 80 characters; settings are the
// caller's own text.
[[nodiscard]] std::string to_text(const analysis::Rehearsal& rehearsal, const analysis::WhatIfAnswer& answer);

// One line: how well the repetition goes.
[[nodiscard]] std::string fidelity_text(const analysis::Rehearsal& rehearsal);
// Why, as far as the first event that differs tells; empty if none does.
[[nodiscard]] std::string deviation_text(const analysis::Rehearsal& rehearsal);
// What follows for who asked, and how far it can be believed.
[[nodiscard]] std::string recommendation(const analysis::Rehearsal& rehearsal,
                                         const analysis::WhatIfAnswer& answer);
[[nodiscard]] std::string guess_text(simulate::Guess guess, int64_t count);
// In which order free blocks of one size are taken, which versions do so, and how that is known; what of it is guessed.
[[nodiscard]] std::string order_text(const analysis::Rehearsal& rehearsal);
// Is there something to say of it? Not of a file of a version up to 2.11, of which all is known.
[[nodiscard]] bool order_matters(const analysis::Rehearsal& rehearsal);

}  // namespace gpustrata::answers
