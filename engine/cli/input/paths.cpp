#include "engine/cli/input/paths.h"

#include <string_view>

#include "engine/cli/input/input.h"

namespace gpustrata::cli {

Outcome<void> append_paths(const std::string& list, std::vector<std::string>& paths) {
  constexpr size_t kLongestList = size_t{16} << 20;
  const auto wrong = [&](const std::string& message) {
    return failure(name_of(ErrorCode::wrong_usage), list, "The list of paths cannot be read: " + message);
  };
  const auto text = read_text(list, kLongestList, "a list of paths");
  if (!text) return wrong(text.error().message);
  if (text->find('\0') != std::string::npos) return wrong("it is no text.");
  for (std::string_view rest = *text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view path = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    constexpr std::string_view kSpace = " \t\r";
    const size_t first = path.find_first_not_of(kSpace);
    if (first == std::string_view::npos) continue;
    path = path.substr(first, path.find_last_not_of(kSpace) - first + 1);
    const bool quoted =
        path.size() > 2 && path.front() == path.back() && (path.front() == '"' || path.front() == '\'');
    if (quoted) path = path.substr(1, path.size() - 2);
    paths.emplace_back(path);
  }
  return {};
}

}  // namespace gpustrata::cli
