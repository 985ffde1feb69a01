#include "engine/answers/text/fitted.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/base/utf8.h"

namespace gpustrata::answers {

namespace {

constexpr std::string_view kCut = "\xE2\x80\xA6";  // …

struct Range {
  uint32_t first, last;
};
constexpr std::array kWide = std::to_array<Range>({{0x1100, 0x115F},
                                                   {0x2E80, 0x303E},
                                                   {0x3041, 0xA4CF},
                                                   {0xAC00, 0xD7A3},
                                                   {0xF900, 0xFAFF},
                                                   {0xFE30, 0xFE6F},
                                                   {0xFF00, 0xFF60},
                                                   {0xFFE0, 0xFFE6},
                                                   {0x1F300, 0x1FAFF},
                                                   {0x20000, 0x3FFFD}});
constexpr std::array kMarks =
    std::to_array<Range>({{0x300, 0x36F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}});

[[nodiscard]] size_t columns_of(std::string_view sequence) {
  const uint32_t value = utf8::code_point(sequence);
  const auto in = [&](const auto& ranges) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](Range range) { return value >= range.first && value <= range.last; });
  };
  return in(kMarks) ? 0 : in(kWide) ? 2 : 1;
}

// The longest end of `text` with at most `columns`.
[[nodiscard]] std::string_view end_of(std::string_view text, size_t columns) {
  size_t all = columns_of_text(text), at = 0;
  while (all > columns) {
    const size_t length = utf8::sequence_at(text, at).length;
    all -= columns_of(text.substr(at, length));
    at += length;
  }
  return text.substr(at);
}

}  // namespace

size_t columns_of_text(std::string_view printable) {
  size_t columns = 0;
  for (size_t at = 0; at < printable.size();) {
    const size_t length = utf8::sequence_at(printable, at).length;
    columns += columns_of(printable.substr(at, length));
    at += length;
  }
  return columns;
}

std::string fitted(std::string_view printable, size_t columns) {
  if (columns_of_text(printable) <= columns) return std::string(printable);
  size_t used = 0, at = 0;
  while (at < printable.size()) {
    const size_t length = utf8::sequence_at(printable, at).length;
    used += columns_of(printable.substr(at, length));
    if (used >= columns) break;  // one is for the sign
    at += length;
  }
  return std::string(printable.substr(0, at)) + std::string(kCut);
}

std::string fitted_path(std::string_view printable, size_t columns) {
  if (columns_of_text(printable) <= columns) return std::string(printable);
  const std::string_view end = end_of(printable, std::max<size_t>(columns, 1) - 1);
  const size_t slash = end.find('/');
  return std::string(kCut) + std::string(slash == std::string_view::npos ? end : end.substr(slash));
}

std::string fitted_frame(std::string_view function, std::string_view place, size_t columns) {
  if (place.empty()) return fitted(function, columns);
  if (function.empty()) return fitted_path(place, columns);
  constexpr size_t kBetween = 2;
  const size_t name = columns_of_text(function);
  const size_t file = columns_of_text(place.substr(place.rfind('/') + 1));
  // The name of the file and its line stay, with "…/" before them, as long as they leave a half to the function.
  const size_t least = std::min({columns_of_text(place), file + 2, columns / 2});
  const size_t for_name = std::min(name, columns - std::min(columns, least + kBetween));
  const size_t for_place = columns - std::min(columns, for_name + kBetween);
  return fitted(function, for_name) + "  " + fitted_path(place, for_place);
}

namespace {

// "MiB", "%)", "KiB,"
[[nodiscard]] bool is_unit(std::string_view piece) {
  constexpr std::string_view kUnits[] = {"%", "B", "KiB", "MiB", "GiB", "TiB"};
  piece = piece.substr(0, piece.find_last_not_of(").,;:") + 1);
  return std::find(std::begin(kUnits), std::end(kUnits), piece) != std::end(kUnits);
}
[[nodiscard]] bool ends_in_digit(std::string_view text) {
  return !text.empty() && text.back() >= '0' && text.back() <= '9';
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  do {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view piece = text.substr(0, end);
    if (!words.empty() && ends_in_digit(words.back()) && is_unit(piece))
      words.back().append(" ").append(piece);
    else
      words.emplace_back(piece);
    text.remove_prefix(std::min(end + 1, text.size()));
  } while (!text.empty());
  return words;
}

std::string wrapped(std::span<const std::string> printable, size_t columns, size_t indent) {
  std::string out;
  size_t at = indent;
  for (const std::string& piece : printable) {
    const size_t width = columns_of_text(piece);
    if (at > indent && at + 1 + width > columns) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (at > indent) {
      out += ' ';
      ++at;
    }
    out += piece;
    at += width;
  }
  return out;
}

}  // namespace gpustrata::answers
