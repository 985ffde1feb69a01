// Results as JavaScript gets them: JSON text; of an error {"code","message","offset","inside"?}.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/answers/common/failure.h"
#include "engine/answers/text/json_of.h"
#include "engine/base/status.h"

namespace gpustrata::wasm {

// Empty where nothing failed.
inline std::string text_of(const Status& status) {
  return status ? std::string() : answers::json_of(status.error());
}

// The answer, or {"error": as above}.
inline std::string text_of(Result<std::string>&& result) {
  return result ? std::move(*result) : "{\"error\":" + answers::json_of(result.error()) + "}";
}

}  // namespace gpustrata::wasm
