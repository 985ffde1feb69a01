#include "engine/answers/stacks/frame_label.h"

#include <fmt/format.h>

#include "engine/analysis/filters/filter_syntax.h"
#include "engine/analysis/stacks/frame_pattern.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/answers/stacks/who.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::FrameKey;

namespace {

// The last `parts` of a path.
[[nodiscard]] std::string_view end_of_path(std::string_view file, int parts) {
  size_t begin = file.size();
  while (begin > 0 && parts > 0) {
    --begin;
    if (file[begin] == '/' || file[begin] == '\\') --parts;
  }
  return parts == 0 ? file.substr(begin + 1) : file;
}

}  // namespace

std::string frame_label(const model::Recording& recording, FrameKey by, FrameId id) {
  constexpr size_t kLongest = 120;
  const std::string_view file = recording.strings.view(recording.frames[id].filename);
  if (by == FrameKey::file) return file.empty() ? "no file" : utf8::cut(end_of_path(file, 2), kLongest);
  const analysis::Who who = analysis::who_of_frame(recording, id);
  if (by == FrameKey::line || !who.is_frame()) return who_text(recording, who);
  std::string name = utf8::cut(function_text(who), kLongest);
  const std::string_view place = end_of_path(file, 1);
  if (place.empty() || place == "??") return name;
  return fmt::format("{} {}", name, utf8::cut(place, kLongest));
}

std::string frame_filter(std::string_view field, const model::Recording& recording, FrameKey by,
                         FrameId frame) {
  std::string text = fmt::format("{}:\"", field);
  for (const char c : analysis::frame_pattern(recording, by, frame)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  text += '"';
  return text.size() <= analysis::kLongestFilter ? text : std::string();
}

std::string no_stack_filter() { return "-call:*:*:*"; }

}  // namespace gpustrata::answers
