#include "engine/base/markup.h"

#include <gtest/gtest.h>

namespace memstrata {
namespace {

TEST(Markup, NothingEndsAnAttributeOrBeginsAnElement) {
  EXPECT_EQ(escaped_markup("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(escaped_markup(std::string_view("\x1b[31m\0\x7f", 7)), " [31m  ");
  EXPECT_EQ(escaped_markup("gr\u00f6\u00dfe 'x'"), "gr\u00f6\u00dfe 'x'");
}

}  // namespace
}  // namespace memstrata
