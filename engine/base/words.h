// Enums whose words people write or read, in commands, links, JSON and the page: the enum and its words are said once.
//
//   GPUSTRATA_WORDS(Axis, event, time);
//
// makes `enum class Axis : uint8_t { event, time }`, whose words are "event" and "time". The page's types have them, too:
// web/engine/protocol/generate.mjs reads these lists.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// words_in(Axis{}) = "event, time"; found where the enum is.
#define GPUSTRATA_WORDS(Enum, ...)                                                                     \
  enum class Enum : uint8_t;                                                                           \
  [[nodiscard]] constexpr std::string_view words_in([[maybe_unused]] Enum of) { return #__VA_ARGS__; } \
  enum class Enum : uint8_t { __VA_ARGS__ }

namespace gpustrata {

inline constexpr std::string_view kBetweenWords = ", ";

// Of a list of words, the first; `words` = those behind it.
constexpr std::string_view next_word(std::string_view& words) {
  const size_t end = std::min(words.find(kBetweenWords), words.size());
  const std::string_view word = words.substr(0, end);
  words.remove_prefix(std::min(end + kBetweenWords.size(), words.size()));
  return word;
}

template <typename Enum>
[[nodiscard]] constexpr size_t count_words() {
  size_t count = 0;
  for (std::string_view words = words_in(Enum{}); !words.empty(); next_word(words)) ++count;
  return count;
}

// By the numbers of the enum.
template <typename Enum>
inline constexpr auto kWordsOf = [] {
  std::array<std::string_view, count_words<Enum>()> found;
  std::string_view words = words_in(Enum{});
  for (std::string_view& word : found) word = next_word(words);
  return found;
}();

template <typename Enum>
[[nodiscard]] constexpr std::string_view word_for(Enum one) {
  return kWordsOf<Enum>[static_cast<size_t>(one)];
}

// "line, function, file": the words up to that of `last`.
template <typename Enum>
[[nodiscard]] constexpr std::string_view words_through(Enum last) {
  const std::string_view all = words_in(last);  // of one evaluation: another one may be another object
  std::string_view rest = all, word;
  for (size_t i = 0; i <= static_cast<size_t>(last); ++i) word = next_word(rest);
  return all.substr(0, static_cast<size_t>(word.data() - all.data()) + word.size());
}

}  // namespace gpustrata
