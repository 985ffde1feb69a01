// Text of traces, sixteen letters at once against one after the other; numbers against plain arithmetic.
#include "engine/io/readers/trace/trace_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace gpustrata::io::traces {
namespace {

std::string random_text(std::mt19937_64& random, std::string_view letters, size_t length) {
  std::string text;
  for (size_t i = 0; i < length; ++i) text += letters[random() % letters.size()];
  return text;
}

TEST(TraceScan, FindsWhatOneLetterAfterTheOtherFinds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = random_text(random, R"(ab"\ 	{}[]]}},:)", random() % 70);
    const char* begin = text.data();
    const char* end = begin + text.size();
    const char* at = begin + (text.empty() ? 0 : random() % text.size());
    const char* plain = at;
    while (plain < end && *plain != '"' && *plain != '\\') ++plain;
    ASSERT_EQ(quote_or_backslash(at, end), plain) << text;
    for (plain = at; plain < end && ascii::is_space(*plain); ++plain) {
    }
    ASSERT_EQ(behind_space(at, end), plain) << text;
    size_t depth = 1 + random() % 20, expected = depth;
    for (plain = at; plain < end && *plain != '"'; ++plain) {
      if (*plain == '{' || *plain == '[') ++expected;
      if ((*plain == '}' || *plain == ']') && --expected == 0) break;
    }
    ASSERT_EQ(quote_or_last_bracket(at, end, depth), plain) << text;
    ASSERT_EQ(depth, expected) << text;
  }
}

// Letters one bit away from brackets: [ and { are 0x20 apart, ; and = lie below them.
TEST(TraceScan, LettersThatLookLikeBracketsAreNone) {
  for (int c = 0; c < 256; ++c) {
    const std::string text(40, static_cast<char>(c));
    const char* const end = text.data() + text.size();
    size_t depth = 100;
    const char* const found = quote_or_last_bracket(text.data(), end, depth);
    EXPECT_EQ(found == end, c != '"') << c;
    const size_t expected = c == '{' || c == '[' ? 140 : c == '}' || c == ']' ? 60 : 100;
    EXPECT_EQ(depth, expected) << c;
  }
}

TEST(TraceNumbers, ShortOnesAndLongOnesAreTheSame) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20'000; ++round) {
    const std::string whole = random_text(random, "0123456789", 1 + random() % 12);
    const std::string behind = random_text(random, "0123456789", random() % 5);
    const int shift = static_cast<int>(random() % 4);
    // In nanoseconds by the letters: so many of those behind the dot, with zeros where there are none.
    std::string digits = whole + (behind + "0000").substr(0, static_cast<size_t>(shift));
    const int64_t expected = std::stoll(digits);
    int64_t value = -1;
    const std::string text = behind.empty() ? whole : whole + "." + behind;
    ASSERT_EQ(integer_of(text, shift, value), Number::fits) << text;
    ASSERT_EQ(value, expected) << text << " " << shift;
    // The same with so many zeros that it is no short one.
    ASSERT_EQ(integer_of(std::string(20, '0') + text, shift, value), Number::fits) << text;
    ASSERT_EQ(value, expected) << text;
  }
  int64_t value = 0;
  EXPECT_EQ(integer_of("999999999999999999", 3, value), Number::too_large);
  EXPECT_EQ(integer_of("1.", 3, value), Number::fits);
  EXPECT_EQ(integer_of(".5", 3, value), Number::fits);
  EXPECT_EQ(integer_of("1.2.3", 3, value), Number::none);
  EXPECT_EQ(integer_of("", 3, value), Number::none);
}

}  // namespace
}  // namespace gpustrata::io::traces
