#include "engine/cli/sizes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "engine/base/ascii.h"

namespace gpustrata::cli {
namespace {

// The number that a text begins with, which is taken away.
[[nodiscard]] std::optional<double> leading_number(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  if (end == 0 || end > 30) return std::nullopt;
  const std::string digits(text.substr(0, end));
  char* rest = nullptr;
  const double value = std::strtod(digits.c_str(), &rest);
  if (rest != digits.c_str() + digits.size() || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(end);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return value;
}

}  // namespace

std::optional<int64_t> size_in(std::string_view text) {
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  const std::string unit = ascii::lower(text);
  static const std::map<std::string, double, std::less<>> kUnits = {
      {"", 1},       {"b", 1},        {"k", 0x1p10},   {"kib", 0x1p10}, {"kb", 1e3},
      {"m", 0x1p20}, {"mib", 0x1p20}, {"mb", 1e6},     {"g", 0x1p30},   {"gib", 0x1p30},
      {"gb", 1e9},   {"t", 0x1p40},   {"tib", 0x1p40}, {"tb", 1e12}};
  const auto known = kUnits.find(unit);
  if (known == kUnits.end() || *number * known->second > 9e18) return std::nullopt;
  return static_cast<int64_t>(*number * known->second);
}

std::optional<double> share_in(std::string_view text) {
  const auto number = leading_number(text);
  if (!number || (!text.empty() && text != "%")) return std::nullopt;
  return text == "%" ? *number / 100 : *number;
}

}  // namespace gpustrata::cli
