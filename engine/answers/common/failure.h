// Why something could not be done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/json_writer.h"
#include "engine/base/status.h"

namespace gpustrata::answers {

// {"code","message","offset": -1 where there is no place,"inside"?}: to programs that embed the engine.
void to_json(JsonWriter& json, const Error& error);

// What a command tells.
struct Failed {
  std::string_view code;   // a name of ErrorCode, or one of the command's own
  std::string_view about;  // the file or option at fault
  std::string_view message;
  int64_t offset = -1;
  std::string_view inside;  // what `offset` counts in; empty = the file
};
// {"code","message","offset": n|null,"inside"?}
void error_to_json(JsonWriter& json, const Failed& failed);
// {"file": about,"error": that}
void to_json(JsonWriter& json, const Failed& failed);
// "gpustrata: a.pickle: The file ends too early. (at byte 1,234)", a line, printable.
[[nodiscard]] std::string to_text(const Failed& failed);

}  // namespace gpustrata::answers
