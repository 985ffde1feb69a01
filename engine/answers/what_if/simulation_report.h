// The outcome of a simulation as text: JSON for programs, tables for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/budget.h"
#include "engine/base/status.h"
#include "engine/simulate/simulation.h"

namespace gpustrata::answers {

void describe(Members& m, const simulate::Simulation& simulation);

// Steps with their results, the layout of the segments, memory_summary().
void to_text(TextOut& out, const simulate::Simulation& simulation);

// The whole way from a script to the JSON: what the page's engine answers; charged. Errors: those of simulate().
[[nodiscard]] Result<std::string> simulate_json(std::string_view script, int64_t device_bytes,
                                                std::string_view conf, Budget& budget);

}  // namespace gpustrata::answers
