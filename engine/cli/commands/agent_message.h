// Who is to be answered when a message is too deep or too wide to be read as a whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/json_value.h"

namespace gpustrata::cli {

struct MessageHead {
  std::optional<JsonValue> id;  // a number or a text
  std::string method, protocol;
};
// Of a text that ends early, or is no JSON from somewhere on: what comes before. O(bytes).
[[nodiscard]] MessageHead head_of_message(std::string_view message);

}  // namespace gpustrata::cli
