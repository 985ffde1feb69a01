#include "engine/base/units.h"

#include <fmt/core.h>

#include <array>
#include <string_view>

namespace gpustrata {

namespace {

// The magnitude of any int64, the most negative one too.
[[nodiscard]] uint64_t magnitude(int64_t value) {
  return value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
}

// value / unit in tenths, half rounded up. No overflow for units up to 2^60.
[[nodiscard]] uint64_t tenths(uint64_t value, uint64_t unit) {
  return value / unit * 10 + (value % unit * 10 + unit / 2) / unit;
}
[[nodiscard]] uint64_t tenths_up(uint64_t value, uint64_t unit) {
  return value / unit * 10 + (value % unit * 10 + unit - 1) / unit;
}

[[nodiscard]] uint64_t tenths_down(uint64_t value, uint64_t unit) {
  return value / unit * 10 + value % unit * 10 / unit;
}

[[nodiscard]] std::string text_of_size(int64_t bytes, uint64_t (*in_tenths)(uint64_t, uint64_t)) {
  constexpr std::array<std::string_view, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  const uint64_t value = magnitude(bytes);
  const std::string_view sign = bytes < 0 ? "-" : "";
  if (value < 1024) return fmt::format("{}{} B", sign, value);
  size_t unit = 0;
  // By the rounded number: 1,048,570 bytes are 1.0 MiB and not 1024.0 KiB.
  while (unit + 1 < kUnits.size() && in_tenths(value, uint64_t{1024} << 10 * unit) >= 10240) ++unit;
  const uint64_t shown = in_tenths(value, uint64_t{1024} << 10 * unit);
  return fmt::format("{}{}.{} {}", sign, shown / 10, shown % 10, kUnits[unit]);
}

}  // namespace

std::string size_text(int64_t bytes) { return text_of_size(bytes, tenths); }

std::string needed_text(int64_t bytes) { return text_of_size(bytes, tenths_up); }

std::string fitting_text(int64_t bytes) { return text_of_size(bytes, tenths_down); }

std::string exact_size_text(int64_t bytes) {
  if (magnitude(bytes) < 1024) return fmt::format("{} bytes", bytes);
  return fmt::format("{} ({} bytes)", size_text(bytes), count_text(bytes));
}

std::string count_text(int64_t count) {
  std::string text = fmt::format("{}", magnitude(count));
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return count < 0 ? "-" + text : text;
}

std::string duration_text(int64_t microseconds) {
  constexpr uint64_t kMillisecond = 1000, kSecond = 1000 * kMillisecond;
  constexpr uint64_t kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;
  const uint64_t us = magnitude(microseconds);
  const std::string_view sign = microseconds < 0 ? "-" : "";
  const auto decimal = [&](uint64_t unit, std::string_view name) {
    const uint64_t shown = tenths(us, unit);
    return fmt::format("{}{}.{} {}", sign, shown / 10, shown % 10, name);
  };
  const auto parts = [&](uint64_t unit, std::string_view name, uint64_t small, std::string_view small_name) {
    return fmt::format("{}{} {} {} {}", sign, us / unit, name, us % unit / small, small_name);
  };
  if (us < kMillisecond) return fmt::format("{}{} us", sign, us);
  if (us < kSecond - kMillisecond / 20) return decimal(kMillisecond, "ms");
  if (us < kMinute - kSecond / 20) return decimal(kSecond, "s");
  if (us < kHour) return parts(kMinute, "min", kSecond, "s");
  if (us < kDay) return parts(kHour, "h", kMinute, "min");
  return parts(kDay, "d", kHour, "h");
}

std::string counted(int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count_text(count), thing, count == 1 ? "" : "s");
}

}  // namespace gpustrata
