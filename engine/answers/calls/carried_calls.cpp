#include "engine/answers/calls/carried_calls.h"

#include <string>

namespace gpustrata::answers {

using analysis::CarriedCalls;

namespace {

template <typename Rows, typename Of>
void numbers_to_json(JsonWriter& json, std::string_view name, const Rows& rows, const Of& of) {
  json.key(name);
  json.begin_array();
  for (const auto& row : rows) json.value(of(row));
  json.end_array();
}

}  // namespace

void to_json(JsonWriter& json, const CarriedCalls& calls) {
  json.begin_object();
  numbers_to_json(json, "texts", calls.texts, [](const std::string& text) { return std::string_view(text); });
  numbers_to_json(json, "names", calls.frames, [](const CarriedCalls::Frame& frame) { return frame.name; });
  numbers_to_json(json, "files", calls.frames, [](const CarriedCalls::Frame& frame) { return frame.file; });
  numbers_to_json(json, "lines", calls.frames, [](const CarriedCalls::Frame& frame) { return frame.line; });
  numbers_to_json(json, "frames", calls.nodes, [](const CarriedCalls::Node& node) { return node.frame; });
  numbers_to_json(json, "callers", calls.nodes, [](const CarriedCalls::Node& node) { return node.caller; });
  numbers_to_json(json, "weights", calls.nodes, [](const CarriedCalls::Node& node) { return node.weight; });
  numbers_to_json(json, "blocks", calls.nodes, [](const CarriedCalls::Node& node) { return node.blocks; });
  json.member("without", calls.without);
  json.member("withoutBlocks", calls.without_blocks);
  json.member("rest", calls.rest);
  json.member("restBlocks", calls.rest_blocks);
  json.end_object();
}

}  // namespace gpustrata::answers
