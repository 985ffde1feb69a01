// An answer as one line of JSON: what to_json() of the same arguments writes.
#pragma once

#include <string>
#include <utility>

#include "engine/base/json_writer.h"

namespace memstrata::answers {

// Of this namespace, so that json_of() finds every to_json() here.
struct JsonLine : JsonWriter {};

template <typename... What>
[[nodiscard]] std::string json_of(const What&... what) {
  JsonLine json;
  to_json(json, what...);
  return std::move(json).text();
}

}  // namespace memstrata::answers
