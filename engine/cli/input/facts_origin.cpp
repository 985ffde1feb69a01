#include "engine/cli/input/facts_origin.h"

#include <charconv>

#include "engine/base/ascii.h"

namespace gpustrata::cli {

namespace {

constexpr int64_t kHighestRank = INT32_MAX;

// All digits that the text begins with.
[[nodiscard]] std::optional<int64_t> leading_rank(std::string_view text) {
  int64_t rank = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (failed != std::errc() || end == text.data() || rank < 0 || rank > kHighestRank) return std::nullopt;
  return rank;
}

[[nodiscard]] bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// What stands behind the key, if the folder is "KEY=VALUE".
[[nodiscard]] std::optional<std::string_view> value_of(std::string_view folder, std::string_view key) {
  if (folder.size() <= key.size() || !folder.starts_with(key) || folder[key.size()] != '=')
    return std::nullopt;
  return folder.substr(key.size() + 1);
}

[[nodiscard]] std::string unescaped(std::string_view value) {
  if (value == "__HIVE_DEFAULT_PARTITION__") return {};
  std::string text;
  for (size_t i = 0; i < value.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = value.data() + i + 1;
    if (value[i] == '%' && value.size() - i > 2 &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2 && byte != 0) {
      text += static_cast<char>(byte);
      i += 2;
    } else {
      text += value[i];
    }
  }
  return text;
}

}  // namespace

std::optional<int64_t> rank_in_name(std::string_view name) {
  constexpr std::string_view kRank = "rank";
  const std::string lower = ascii::lower(name);
  for (size_t at = lower.rfind(kRank); at != std::string::npos; at = lower.rfind(kRank, at - 1)) {
    std::string_view rest = std::string_view(lower).substr(at + kRank.size());
    const bool is_part_of_a_word = at > 0 && is_letter(lower[at - 1]);  // "frank3"
    if (!rest.empty() && std::string_view("_-.=").find(rest.front()) != std::string_view::npos)
      rest.remove_prefix(1);
    const bool has_digit = !rest.empty() && rest.front() >= '0' && rest.front() <= '9';
    if (has_digit && !is_part_of_a_word) return leading_rank(rest);
    if (at == 0) break;
  }
  return std::nullopt;
}

FolderNames names_of_folders(std::string_view path) {
  FolderNames names;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    const std::string_view folder = path.substr(0, slash);
    if (const auto run = value_of(folder, "run")) names.run = unescaped(*run);
    if (const auto host = value_of(folder, "host")) names.host = unescaped(*host);
    if (const auto rank = value_of(folder, "rank")) names.rank = leading_rank(*rank);
    path.remove_prefix(slash + 1);
  }
  return names;
}

answers::FactsOrigin origin_of_path(std::string_view path, std::string_view output) {
  const FolderNames own = names_of_folders(path), made = names_of_folders(output);
  answers::FactsOrigin origin;
  origin.file = path.substr(path.rfind('/') + 1);  // without a slash npos + 1 is 0
  origin.run = own.run.empty() ? made.run : own.run;
  origin.host = own.host.empty() ? made.host : own.host;
  origin.rank = own.rank;
  if (!origin.rank) origin.rank = rank_in_name(origin.file);
  if (!origin.rank) origin.rank = made.rank;
  return origin;
}

}  // namespace gpustrata::cli
