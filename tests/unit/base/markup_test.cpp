#include "engine/base/markup.h"

#include <gtest/gtest.h>

namespace gpustrata {
namespace {

TEST(Markup, NothingEndsAnAttributeOrBeginsAnElement) {
  EXPECT_EQ(escaped_markup("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(escaped_markup(std::string_view("\x1b[31m\0\x7f", 7)), " [31m  ");
  EXPECT_EQ(escaped_markup("gr\u00f6\u00dfe 'x'"), "gr\u00f6\u00dfe 'x'");
}

TEST(Markup, IsWellFormedWhateverTheBytes) {
  EXPECT_EQ(escaped_markup("a\xff\xe2\x82z"), "a\uFFFD\uFFFDz");
  EXPECT_EQ(escaped_markup("\uFFFE\uFFFF\uFFFD"),
            "\uFFFD\uFFFD\uFFFD");                      // no characters of XML, but U+FFFD is
  EXPECT_EQ(escaped_markup("\xed\xa0\x80"), "\uFFFD");  // a lone surrogate
  EXPECT_EQ(escaped_markup("\u009b31m\u0085\u00a0"), " 31m \u00a0");
  EXPECT_EQ(escaped_markup("\xc2<"), "\uFFFD&lt;");  // what a cut character must not swallow
}

}  // namespace
}  // namespace gpustrata
