#include "engine/base/utf8.h"

#include <gtest/gtest.h>

namespace gpustrata::utf8 {
namespace {

TEST(Utf8, ValidTextStaysAsItIs) {
  EXPECT_EQ(sanitized("plain \u00e9 \u20ac \U0001F600"), "plain \u00e9 \u20ac \U0001F600");
}

TEST(Utf8, ACutSequenceIsOneReplacement) {
  EXPECT_EQ(sanitized("\xf0\x9f\x98"), "\uFFFD");
  EXPECT_EQ(sanitized("\xe2\x82y"), "\uFFFDy");
}

TEST(Utf8, SurrogatesAreOneReplacementEach) {
  EXPECT_EQ(sanitized("\xed\xa0\xbd\xed\xb8\x80"), "\uFFFD\uFFFD");
}

TEST(Utf8, AContinuationByteAloneIsOneReplacement) { EXPECT_EQ(sanitized("\x80\xbf"), "\uFFFD\uFFFD"); }

TEST(Utf8, TheHighestCodePointIsValid) { EXPECT_EQ(sanitized("\U0010FFFF"), "\U0010FFFF"); }

TEST(Utf8, ACutTextEndsWithAWholeCharacterAndAnEllipsis) {
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("abcd", 3), "abc\u2026");
  EXPECT_EQ(cut("a\u20acb", 4), "a\u20ac\u2026");
  EXPECT_EQ(cut("a\u20acb", 3), "a\u2026");
  EXPECT_EQ(cut("a\u20acb", 2), "a\u2026");
  EXPECT_EQ(cut("ab", 0), "\u2026");
  EXPECT_EQ(cut("\x80\x80\x80\x80\x80", 4), "\x80\u2026");  // no character: three bytes back at most
}

TEST(Utf8, CodePointsOfEveryLength) {
  std::string text;
  for (const uint32_t code :
       {0x41U, 0x7FU, 0x80U, 0x7FFU, 0x800U, 0x20ACU, 0xD800U, 0xFFFFU, 0x10000U, 0x10FFFFU})
    append(text, code);
  EXPECT_EQ(
      text,
      "A\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xE2\x82\xAC\xED\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
}

}  // namespace
}  // namespace gpustrata::utf8
