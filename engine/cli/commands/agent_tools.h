// The tools that `gpustrata mcp` offers: commands, with arguments by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/answers/clients/agent_messages.h"
#include "engine/base/json_value.h"
#include "engine/base/status.h"

namespace gpustrata::cli {

[[nodiscard]] std::span<const answers::Tool> agent_tools();

struct ToolCall {
  std::vector<std::string> arguments;  // of the command, its name first
  size_t from = 0;                     // byte of its output that the answer begins with
  bool is_json = false;
};
// Error: wrong_usage, in words: no such tool, an argument that is missing, unknown or of another type, a path of
// what is no file.
[[nodiscard]] Result<ToolCall> tool_call(std::string_view tool, const JsonValue* arguments);

}  // namespace gpustrata::cli
