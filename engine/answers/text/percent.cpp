#include "engine/answers/text/percent.h"

#include <fmt/core.h>

namespace gpustrata::answers {

std::string percent_text(int64_t part, int64_t whole) {
  if (whole <= 0 || part == 0) return "0 %";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.05) return "below 0.1 %";
  return percent < 9.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

}  // namespace gpustrata::answers
