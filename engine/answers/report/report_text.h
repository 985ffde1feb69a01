// A device's report as lines for the terminal, by what matters in this recording.
#pragma once

#include <cstddef>
#include <string>

#include "engine/analysis/report/report.h"

namespace gpustrata::answers {

// Lines of at most `columns`, printable, with two spaces before each; the first says what it is all about. In this
// order, and only what there is: out of memory; leaks; the peak; memory that is reserved but not used; what was there
// before; what was not recorded.
[[nodiscard]] std::string report_text(const analysis::EventContext& context, const analysis::Report& report,
                                      const analysis::CategoryRules& rules, size_t columns);

}  // namespace gpustrata::answers