#include "engine/answers/calls/call_facts.h"

#include <string>

namespace gpustrata::answers {

using analysis::CallFacts;

namespace {

template <typename Rows, typename Of>
void numbers_to_json(JsonWriter& json, std::string_view name, const Rows& rows, const Of& of) {
  json.key(name);
  json.begin_array();
  for (const auto& row : rows) json.value(of(row));
  json.end_array();
}

}  // namespace

void to_json(JsonWriter& json, const CallFacts& facts) {
  json.begin_object();
  numbers_to_json(json, "texts", facts.texts, [](const std::string& text) { return std::string_view(text); });
  numbers_to_json(json, "names", facts.frames, [](const CallFacts::Frame& frame) { return frame.name; });
  numbers_to_json(json, "files", facts.frames, [](const CallFacts::Frame& frame) { return frame.file; });
  numbers_to_json(json, "lines", facts.frames, [](const CallFacts::Frame& frame) { return frame.line; });
  numbers_to_json(json, "frames", facts.nodes, [](const CallFacts::Node& node) { return node.frame; });
  numbers_to_json(json, "callers", facts.nodes, [](const CallFacts::Node& node) { return node.caller; });
  numbers_to_json(json, "weights", facts.nodes, [](const CallFacts::Node& node) { return node.weight; });
  numbers_to_json(json, "blocks", facts.nodes, [](const CallFacts::Node& node) { return node.blocks; });
  json.member("without", facts.without);
  json.member("withoutBlocks", facts.without_blocks);
  json.member("rest", facts.rest);
  json.member("restBlocks", facts.rest_blocks);
  json.end_object();
}

}  // namespace gpustrata::answers
