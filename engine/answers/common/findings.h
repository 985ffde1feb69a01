// What was noticed in a file, in words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/analysis/report/summary.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/model/diagnostics.h"

namespace gpustrata::answers {

// One sentence: what it means for what is shown.
[[nodiscard]] std::string_view text_of(model::Diag diag);
// That, and what the first of its kind was.
[[nodiscard]] std::string text_of(const analysis::Finding& finding);

// Of model::Severity.

void describe(Members& m, const analysis::Finding& finding);
void to_json(JsonWriter& json, std::span<const analysis::Finding> findings);

enum class Remarks : uint8_t { shown, left_out };  // findings that are nobody's loss

// "    warning  Text [3 times, first at byte 1,234 of a.pickle]", a line each, printable.
[[nodiscard]] std::string finding_lines(std::span<const analysis::Finding> findings, Remarks remarks);

// "\n  Noticed\n" and those lines, if there are any.
void noticed_to_text(TextOut& out, std::span<const analysis::Finding> findings);
// The same of reading a file, "Noticed while reading".
void noticed_reading_to_text(TextOut& out, std::span<const analysis::Finding> findings);

}  // namespace gpustrata::answers
