// Why something could not be done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/answers/described/members.h"
#include "engine/base/status.h"

namespace gpustrata::answers {

// To programs that embed the engine: {"code","message","offset","inside"?}.
void describe(Members& m, const Error& error);

// What a command tells.
struct Failed {
  std::string_view code;   // a name of ErrorCode, or one of the command's own
  std::string_view about;  // the file or option at fault
  std::string_view message;
  int64_t offset = -1;
  std::string_view inside;                      // what `offset` counts in; empty = the file
  std::optional<std::string_view> output = {};  // that was to be written
};
void describe_error(Members& m, const Failed& failed);
void describe(Members& m, const Failed& failed);
// "gpustrata: a.pickle: The file ends too early. (at byte 1,234)", a line, printable.
[[nodiscard]] std::string to_text(const Failed& failed);

}  // namespace gpustrata::answers
