#include "engine/cli/moment.h"

#include <charconv>

namespace gpustrata::cli {

namespace {

[[nodiscard]] std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool is_moment(std::string_view at) {
  const auto number = number_in(at);
  return at == "peak" || at == "end" || at == "start" || (number && *number >= -1);
}

std::optional<int32_t> event_at(std::string_view at, const analysis::Moments& moments) {
  if (at == "peak") return moments.peak_event;
  if (at == "end") return moments.event_count - 1;
  if (at == "start") return -1;
  const auto number = number_in(at);
  if (!number || *number < -1 || *number >= moments.event_count) return std::nullopt;
  return static_cast<int32_t>(*number);
}

Result<int32_t> event_or_error(std::string_view at, const analysis::Moments& moments) {
  if (const auto event = event_at(at, moments)) return *event;
  return fail(ErrorCode::wrong_usage, -1,
              "There is no event {}: say peak, end, start, or an index below {} (-1 = before the first).", at,
              moments.event_count);
}

}  // namespace gpustrata::cli
