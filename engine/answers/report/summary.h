// What is in a file: the answer of `gpustrata summary`. The shape is in engine/cli/README.md.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/analysis/report/summary.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::Summary& summary, std::string_view file);

// Of a reduced fleet, into which only the page looks.
inline constexpr std::string_view kFleetWords =
    "\n  A reduced fleet: facts of many ranks, as gpustrata fleet -o writes them.\n"
    "  The page shows it: open the file there, or run gpustrata serve in its folder.\n";

// A table for each device, and what was noticed; lines of at most `columns`, as far as words allow.
void to_text(TextOut& out, const analysis::Summary& summary, std::string_view file, size_t columns);

}  // namespace gpustrata::answers
