#include "engine/answers/clients/agent_messages.h"

#include <cmath>

namespace gpustrata::answers {

namespace {

void write(JsonWriter& json, const NothingToSay& /*nothing*/) {
  json.begin_object();
  json.end_object();
}

void write(JsonWriter& json, const AgentGreeting& greeting) {
  json.begin_object();
  json.member("protocolVersion", greeting.protocol);
  json.key("capabilities");
  json.begin_object();
  json.key("tools");
  json.begin_object();
  json.end_object();
  json.end_object();
  json.key("serverInfo");
  json.begin_object();
  json.member("name", "gpustrata");
  json.member("version", greeting.version);
  json.end_object();
  json.member("instructions", greeting.instructions);
  json.end_object();
}

void write(JsonWriter& json, const ToolArgument& argument) {
  using Type = ToolArgument::Type;
  json.key(argument.name);
  json.begin_object();
  json.member("type", argument.type == Type::text    ? "string"
                      : argument.type == Type::whole ? "integer"
                      : argument.type == Type::flag  ? "boolean"
                                                     : "array");
  if (argument.type == Type::texts) {
    json.key("items");
    json.begin_object();
    json.member("type", "string");
    json.end_object();
  }
  json.member("description", argument.about);
  json.end_object();
}

void write(JsonWriter& json, const Tool& tool) {
  json.begin_object();
  json.member("name", tool.name);
  json.member("title", tool.title);
  json.member("description", tool.about);
  json.key("inputSchema");
  json.begin_object();
  json.member("type", "object");
  json.key("properties");
  json.begin_object();
  for (const ToolArgument& argument : tool.arguments) write(json, argument);
  json.end_object();
  json.key("required");
  json.begin_array();
  for (const ToolArgument& argument : tool.arguments)
    if (argument.is_required) json.value(argument.name);
  json.end_array();
  json.member("additionalProperties", false);
  json.end_object();
  json.key("annotations");
  json.begin_object();
  json.member("readOnlyHint", true);
  json.member("openWorldHint", false);
  json.end_object();
  json.end_object();
}

void write(JsonWriter& json, const ToolList& list) {
  json.begin_object();
  json.key("tools");
  json.begin_array();
  for (const Tool& tool : list.tools) write(json, tool);
  json.end_array();
  json.end_object();
}

void write(JsonWriter& json, const ToolAnswer& answer) {
  json.begin_object();
  json.key("content");
  json.begin_array();
  json.begin_object();
  json.member("type", "text");
  json.member("text", answer.text);
  json.end_object();
  json.end_array();
  json.member("isError", answer.is_error);
  json.end_object();
}

void write(JsonWriter& json, const RpcError& error) {
  json.begin_object();
  json.member("code", error.code);
  json.member("message", error.message);
  json.end_object();
}

void write_id(JsonWriter& json, const JsonValue* id) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  json.key("id");
  if (id == nullptr || id->kind == JsonValue::Kind::null) {
    json.null();
  } else if (id->kind == JsonValue::Kind::text) {
    json.value(id->text);
  } else if (id->number == std::floor(id->number) && std::fabs(id->number) <= kExact) {
    json.value(static_cast<int64_t>(id->number));
  } else {
    json.value(id->number);
  }
}

}  // namespace

void to_json(JsonWriter& json, const AgentReply& reply) {
  json.begin_object();
  json.member("jsonrpc", "2.0");
  write_id(json, reply.id);
  json.key(std::holds_alternative<RpcError>(reply.what) ? "error" : "result");
  std::visit([&](const auto& what) { write(json, what); }, reply.what);
  json.end_object();
}

}  // namespace gpustrata::answers
