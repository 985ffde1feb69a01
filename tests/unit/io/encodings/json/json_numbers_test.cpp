#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "engine/base/json_number.h"
#include "tests/unit/io/read_file.h"

namespace gpustrata::tests {
namespace {

// The number as a setting is kept; "-" if it is none.
std::string kept(std::string_view number) {
  const std::string text =
      R"({"segments":[],"device_traces":[[]],"allocator_settings":{"a":)" + std::string(number) + "}}";
  const auto file = read_any(text);
  if (file->count(model::Diag::invalid_json) > 0 || file->recording.parts.empty()) return "-";
  const std::string_view settings = file->text(file->recording.parts[0].settings_json);
  constexpr std::string_view kBefore = R"({"a":)";
  return std::string(settings.substr(kBefore.size(), settings.size() - kBefore.size() - 1));
}

TEST(JsonNumbers, IntegersAreExactTo64Bits) {
  EXPECT_EQ(kept("9007199254740993"), "9007199254740993");  // 2^53 + 1
  EXPECT_EQ(kept("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(kept("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(kept("-0"), "0");
}

TEST(JsonNumbers, RealsAreTheNearestDouble) {
  EXPECT_EQ(kept("0.1"), "0.1");
  EXPECT_EQ(kept("-2.5E+3"), "-2500.0");
  EXPECT_EQ(kept("1e-05"), "1e-05");
  EXPECT_EQ(kept("4.9e-324"), "5e-324");                                        // the least one
  EXPECT_EQ(kept("1.00000000000000011102230246251566"), "1.0000000000000002");  // above half of the last bit
}

TEST(JsonNumbers, WhatIsNoNumberIsToldAndLeftOut) {
  for (const std::string_view text : {"1.", "1.e5", "1e", "00.5", "1.5abc", "1.5.5", "1e400", "-", "1-2"})
    EXPECT_EQ(kept(text), "-") << text;
}

TEST(JsonNumbers, TheFormIsThatOfTheStandard) {
  EXPECT_EQ(json_number("-12,").length, 3U);
  EXPECT_TRUE(json_number("0 ").whole);
  EXPECT_EQ(json_number("1.5e-3]").length, 6U);
  EXPECT_FALSE(json_number("1e2").whole);
  for (const std::string_view text : {"", "-", "+1", ".5", "01", "1.", "1e+", "x"})
    EXPECT_EQ(json_number(text).length, 0U) << text;
}

}  // namespace
}  // namespace gpustrata::tests
