// Texts end where they end, whatever bytes lie behind them.
#include <gtest/gtest.h>

#include "engine/base/utf8.h"

namespace gpustrata::utf8 {
namespace {

TEST(Utf8Ends, BytesBehindTheTextAreNotItsOwn) {
  // "€" and U+1F600, of which the text has all bytes but the last.
  for (const std::string_view whole : {"\u20ac", "\U0001F600"}) {
    const std::string_view text = whole.substr(0, whole.size() - 1);
    const Sequence sequence = sequence_at(text, 0);
    EXPECT_FALSE(sequence.valid);
    EXPECT_EQ(sequence.length, text.size());
    EXPECT_TRUE(sequence_at(whole, 0).valid);
    EXPECT_EQ(sanitized(text), "\uFFFD");
  }
}

TEST(Utf8Ends, AsciiIsOneByteUpTo7F) {
  for (const char* byte : {"a", "\x01", "\x7F"}) {
    EXPECT_TRUE(sequence_at(byte, 0).valid);
    EXPECT_EQ(sequence_at(byte, 0).length, 1U);
  }
  EXPECT_FALSE(sequence_at("\x80", 0).valid);
}

TEST(Utf8Ends, TheSecondByteDecidesWhatIsTooLongOrTooHigh) {
  struct Case {
    std::string_view text;
    bool valid;
  };
  for (const Case& one :
       {Case{"\xC1\xBF", false}, Case{"\xC2\x80", true}, Case{"\xDF\xBF", true}, Case{"\xE0\x9F\xBF", false},
        Case{"\xE0\xA0\x80", true}, Case{"\xED\x9F\xBF", true}, Case{"\xED\xA0\x80", false},
        Case{"\xEE\x80\x80", true}, Case{"\xEF\xBF\xBF", true}, Case{"\xF0\x8F\xBF\xBF", false},
        Case{"\xF0\x90\x80\x80", true}, Case{"\xF4\x8F\xBF\xBF", true}, Case{"\xF4\x90\x80\x80", false},
        Case{"\xF5\x80\x80\x80", false}, Case{"\xC2\xC0", false}, Case{"\xC2\x7F", false},
        Case{"\xE2\x82\xC0", false}, Case{"\xE2\x82\x7F", false}}) {
    EXPECT_EQ(sequence_at(one.text, 0).valid, one.valid) << one.text.size() << ": " << sanitized(one.text);
    if (one.valid) {
      EXPECT_EQ(sequence_at(one.text, 0).length, one.text.size());
    }
  }
}

// "é" is two bytes and one unit, U+1F600 four and two.
TEST(Utf8Ends, PlacesInUnitsOfUtf16AndBack) {
  const std::string_view text = "a\u00e9\U0001F600b";  // bytes 0, 1, 3, 7
  const int64_t units[] = {0, 1, 2, 2, 4, 4, 4, 4, 5, 5};
  for (size_t bytes = 0; bytes < std::size(units); ++bytes)
    EXPECT_EQ(units_before(text, bytes), units[bytes]) << bytes;
  const size_t places[] = {0, 1, 3, 7, 7, 8, 8};
  for (size_t unit = 0; unit < std::size(places); ++unit)
    EXPECT_EQ(bytes_before(text, unit), places[unit]) << unit;
}

TEST(Utf8Ends, WhatATerminalObeys) {
  const auto control = [](std::string_view text) { return is_control(text, 0, sequence_at(text, 0)); };
  for (const std::string_view text : {"\x1F", "\x7F", "\xC2\x80", "\xC2\x9F"}) EXPECT_TRUE(control(text));
  for (const std::string_view text : {" ", "~", "\xC2\xA0", "\xC3\x80"}) EXPECT_FALSE(control(text));
}

}  // namespace
}  // namespace gpustrata::utf8
