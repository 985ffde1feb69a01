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

}  // namespace
}  // namespace memstrata::utf8
