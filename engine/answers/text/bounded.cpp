#include "engine/answers/text/bounded.h"

#include <fmt/core.h>

#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

std::string more_text(int64_t count) { return fmt::format("… {} more", count_text(count)); }

std::string in_list(std::string_view text) { return utf8::cut(text, kLongestInList); }

std::optional<std::string> or_none(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::optional<std::string> text_or_none(const model::Recording& recording, StringId text) {
  return text.is_none() ? std::nullopt : std::optional(in_list(recording.strings.view(text)));
}

}  // namespace gpustrata::answers
