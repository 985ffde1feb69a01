// A reduced fleet as JSON: the file that `gpustrata fleet -o` writes, and the page's answer.
#pragma once

#include <string_view>

#include "engine/answers/text_out.h"
#include "engine/base/json_writer.h"
#include "engine/model/fleet.h"

namespace gpustrata::answers {

// Where the curves' bytes go: into the text as base64, or (null in the text) beside it, as columns of a frame.
enum class CurveBytes : uint8_t { in_base64, apart };

[[nodiscard]] std::string_view name_of(model::FleetUnit unit);
[[nodiscard]] std::string_view name_of(model::FleetKind kind);

// {"gpustrata_fleet":1,"title","coverage","says","unreadable","unreadable_count","columns","groups","curves","findings","stacks"} as
// "The reduced file, version 1" of engine/fleet/README.md has it. Numbers that are whole are written as such. The reader
// (io/readers/fleet_file.h) of this text gives the same Fleet.
void to_json(JsonWriter& json, const model::Fleet& fleet, CurveBytes bytes = CurveBytes::in_base64);

// In words: findings first, what was not as it should be, then the ranks that hold most. Lines of at most `columns`, as far as
// words allow; printable.
void to_text(TextOut& out, const model::Fleet& fleet, size_t columns);
// {"title","rows","runs","unreadable","findings":[{"kind","title","bad"}],"findings_left_out"}
void summary_to_json(JsonWriter& json, const model::Fleet& fleet);

}  // namespace gpustrata::answers
