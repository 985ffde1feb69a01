// What `gpustrata mcp` says to an agent: JSON-RPC 2.0 as the Model Context Protocol has it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "engine/base/json_value.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

struct ToolArgument {
  enum class Type : uint8_t { text, whole, flag, texts };
  std::string_view name;
  Type type = Type::text;
  bool is_required = false;
  std::string_view about;
};
struct Tool {
  std::string_view name, title, about;
  std::span<const ToolArgument> arguments;
};

struct AgentGreeting {
  std::string_view protocol, version, instructions;
};
struct ToolList {
  std::span<const Tool> tools;
};
struct ToolAnswer {
  std::string_view text;
  bool is_error = false;
};
struct RpcError {
  int code = 0;
  std::string_view message;
};
struct NothingToSay {};

struct AgentReply {
  const JsonValue* id = nullptr;  // null = it could not be read
  std::variant<NothingToSay, AgentGreeting, ToolList, ToolAnswer, RpcError> what;
};
// {"jsonrpc":"2.0","id","result": what} or {...,"error":{"code","message"}}
void to_json(JsonWriter& json, const AgentReply& reply);

}  // namespace gpustrata::answers
