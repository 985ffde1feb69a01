#include "engine/answers/stacks/who.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::Who;

namespace {

constexpr size_t kLongest = 120;
constexpr size_t kLongestFilterText = 200;

}  // namespace

std::string function_text(const Who& who) {
  return who.kind == Who::Kind::op ? fmt::format("aten::{}", who.name) : std::string(who.name);
}

std::string_view recorded_file(const model::Recording& recording, const Who& who) {
  if (who.kind == Who::Kind::nothing) return {};
  return recording.strings.view(recording.frames[who.frame].filename);
}

int32_t line_of(const model::Recording& recording, const Who& who) {
  return who.kind == Who::Kind::nothing ? 0 : std::max(recording.frames[who.frame].line, 0);
}

std::string who_text(const model::Recording& recording, const Who& who) {
  if (who.kind == Who::Kind::op) return utf8::cut(function_text(who), kLongest);
  std::string name = utf8::cut(who.name, kLongest);
  if (!who.is_frame()) return name;
  std::string_view file = recorded_file(recording, who);
  file.remove_prefix(std::min(file.find_last_of("/\\") + 1, file.size()));
  if (file.empty() || file == "??") return name;
  return fmt::format("{} {}:{}", name, utf8::cut(file, kLongest), line_of(recording, who));
}

std::optional<std::string> filter_text(const model::Recording& recording, const Who& who,
                                       std::string_view terms) {
  if (who.kind == Who::Kind::nothing) return std::nullopt;
  std::string text;
  if (who.is_frame()) {
    std::string_view file = recorded_file(recording, who);
    file.remove_prefix(std::min(file.find_last_of("/\\") + 1, file.size()));
    text = fmt::format("{}:{}:{}", file, line_of(recording, who), who.name);
  } else {
    text = fmt::format("::{}::", who.name);
  }
  if (text.size() > kLongestFilterText || text.find('"') != std::string::npos) return std::nullopt;
  return fmt::format("stack:\"{}\"{}{}", text, terms.empty() ? "" : " ", terms);
}

std::optional<std::string> who_or_none(const model::Recording& recording, const Who& who) {
  return who.kind == Who::Kind::nothing ? std::nullopt : std::optional(who_text(recording, who));
}

}  // namespace gpustrata::answers
