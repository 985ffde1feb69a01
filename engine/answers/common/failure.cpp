#include "engine/answers/common/failure.h"

#include <fmt/core.h>

#include <optional>

#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

namespace {

void members_to_json(JsonWriter& json, std::string_view code, std::string_view message,
                     std::optional<int64_t> offset, std::string_view inside) {
  json.begin_object();
  json.member("code", code);
  json.member("message", message);
  json.member("offset", offset);
  if (!inside.empty()) json.member("inside", inside);
  json.end_object();
}

}  // namespace

void to_json(JsonWriter& json, const Error& error) {
  members_to_json(json, name_of(error.code), error.message, error.offset, error.inside);
}

void error_to_json(JsonWriter& json, const Failed& failed) {
  members_to_json(json, failed.code, failed.message,
                  failed.offset < 0 ? std::nullopt : std::optional(failed.offset), failed.inside);
}

void to_json(JsonWriter& json, const Failed& failed) {
  json.begin_object();
  json.member("file", failed.about);
  json.key("error");
  error_to_json(json, failed);
  json.end_object();
}

std::string to_text(const Failed& failed) {
  const std::string place =
      failed.offset <= 0 ? ""
      : failed.inside.empty()
          ? fmt::format(" (at byte {})", count_text(failed.offset))
          : fmt::format(" (at byte {} of {})", count_text(failed.offset), printable(failed.inside));
  return fmt::format("gpustrata: {}: {}{}\n", printable(failed.about), printable(failed.message), place);
}

}  // namespace gpustrata::answers
