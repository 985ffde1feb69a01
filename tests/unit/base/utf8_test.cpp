#include "engine/base/utf8.h"

#include <gtest/gtest.h>

namespace memstrata::utf8 {
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

}  // namespace
}  // namespace memstrata::utf8
