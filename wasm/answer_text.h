// Results as JavaScript gets them: JSON text; of an error {"code","message","offset","inside"?}.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/base/json_writer.h"
#include "engine/base/status.h"

namespace memstrata::wasm {

inline std::string error_text(const Error& error) {
  JsonWriter json;
  json.begin_object();
  json.member("code", name_of(error.code));
  json.member("message", std::string_view(error.message));
  json.member("offset", error.offset);
  if (!error.inside.empty()) json.member("inside", std::string_view(error.inside));
  json.end_object();
  return std::move(json).text();
}

// Empty where nothing failed.
inline std::string text_of(const Status& status) {
  return status ? std::string() : error_text(status.error());
}

// The answer, or {"error": as above}.
inline std::string text_of(Result<std::string>&& result) {
  return result ? std::move(*result) : "{\"error\":" + error_text(result.error()) + "}";
}

}  // namespace memstrata::wasm
