// An answer as JSON: what to_json() of the same arguments writes.
#pragma once

#include <string>
#include <utility>

#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// Of this namespace, so that to_json() is looked up here.
struct JsonLine : JsonWriter {
  JsonLine() = default;
  explicit JsonLine(JsonWriter&& json) : JsonWriter(std::move(json)) {}
};

// As a text, for what is short.
template <typename... What>
[[nodiscard]] std::string json_of(const What&... what) {
  JsonLine json;
  to_json(json, what...);
  return std::move(json).text();
}

// As a line of `out`, however long.
template <typename... What>
void json_line(TextOut& out, const What&... what) {
  JsonLine json(out.json());
  to_json(json, what...);
  out.end_line(json);
}

}  // namespace gpustrata::answers
