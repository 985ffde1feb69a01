#include "engine/replay/recorded_config.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>

namespace gpustrata::replay {

namespace {

// The text is written by our own reader: one line, no spaces. Keys are looked for with their quotes, so a
// value that happens to hold the same words needs an escaped quote and does not match.
[[nodiscard]] std::string_view after_key(std::string_view json, std::string_view key) {
  const size_t at = json.find(key);
  return at == std::string_view::npos ? std::string_view() : json.substr(at + key.size());
}

[[nodiscard]] std::optional<int64_t> leading_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

[[nodiscard]] double leading_number(std::string_view text) {
  const std::string number(text.substr(0, std::min<size_t>(text.find_first_not_of("0123456789.eE+-"), 40)));
  return number.empty() ? 0 : std::strtod(number.c_str(), nullptr);
}

}  // namespace

alloc::Config recorded_config(std::string_view json) {
  alloc::Config config;
  const std::string_view text = after_key(json, "\"PYTORCH_CUDA_ALLOC_CONF\":\"");
  // Settings that are known hold no character that JSON escapes.
  (void)alloc::apply_settings(config, text.substr(0, text.find('"')));
  const std::string_view expandable = after_key(json, "\"expandable_segments\":");
  if (expandable.starts_with("true")) config.expandable_segments = true;
  if (expandable.starts_with("false")) config.expandable_segments = false;
  const std::string_view threshold = after_key(json, "\"garbage_collection_threshold\":");
  if (const double share = leading_number(threshold); share > 0 && share < 1)
    config.garbage_collection_threshold = share;
  if (const auto size = leading_integer(after_key(json, "\"max_split_size\":")); size && *size > 0)
    config.max_split_size = *size;
  std::string_view divisions = after_key(json, "\"roundup_power2_divisions\":{");
  divisions = divisions.substr(0, divisions.find('}'));
  while (!divisions.empty()) {
    const size_t open = divisions.find('"');
    const size_t close = open == std::string_view::npos ? open : divisions.find('"', open + 1);
    if (close == std::string_view::npos) break;
    const auto mib = leading_integer(divisions.substr(open + 1, close - open - 1));
    divisions.remove_prefix(close + 1);
    if (!divisions.starts_with(':')) break;
    divisions.remove_prefix(1);
    const auto division = leading_integer(divisions);
    // More than 1024 steps, or a number that is no power of two, is nothing the allocator accepts.
    if (mib && *mib > 0 && division && *division >= 0 && *division <= 1024 &&
        (*division == 0 || std::has_single_bit(static_cast<uint64_t>(*division)))) {
      const int size_class = 63 - std::countl_zero(static_cast<uint64_t>(*mib));
      if (static_cast<size_t>(size_class) < alloc::Config::kDivisionClasses)
        config.roundup_power2_divisions[static_cast<size_t>(size_class)] = static_cast<int32_t>(*division);
    }
  }
  return config;
}

}  // namespace gpustrata::replay
