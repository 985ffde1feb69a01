// A reduced fleet as JSON and in words: what `gpustrata fleet` writes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/model/fleet.h"

namespace gpustrata::answers {

// "The reduced file, version 1" of engine/fleet/README.md. Numbers that are whole are written as such.
void describe(Members& m, const model::Fleet& fleet);

// Of a part of a file, as the file has it.
struct FleetText {
  std::span<const uint8_t> text;
};
void describe(Members& m, const FleetText& fleet);

// In words: findings first, what was not as it should be, then the ranks that hold most. Lines of at most `columns`, as far as
// words allow; printable.
void to_text(TextOut& out, const model::Fleet& fleet, size_t columns);

}  // namespace gpustrata::answers
