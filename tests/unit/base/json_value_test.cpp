#include "engine/base/json_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "engine/base/json_writer.h"

namespace gpustrata {
namespace {

[[nodiscard]] double number(const std::string& text) {
  const auto value = parse_json(text);
  return value && value->kind == JsonValue::Kind::number ? value->number : std::nan("");
}

TEST(JsonValue, ReadsEveryKind) {
  const auto value =
      parse_json(R"( {"a":[1,-2.5e1,true,false,null],"b":{"c":"x\n\"\u00e9\ud83d\ude00\ud800"}} )");
  ASSERT_TRUE(value.has_value());
  const auto& items = value->find("a")->items;
  ASSERT_EQ(items.size(), 5U);
  EXPECT_EQ(items[0].number, 1);
  EXPECT_EQ(items[1].number, -25);
  EXPECT_TRUE(items[2].flag);
  EXPECT_EQ(items[4].kind, JsonValue::Kind::null);
  EXPECT_EQ(value->find("b")->find("c")->text, "x\n\"é😀\xEF\xBF\xBD");
  EXPECT_EQ(value->find("d"), nullptr);
}

TEST(JsonValue, NumbersAreTheNearestDoubles) {
  constexpr std::pair<const char*, double> kNumbers[] = {
      {"0", 0.0},
      {"-0", -0.0},
      {"9007199254740993", 9007199254740992.0},  // 2^53 + 1 lies between two, this one is even
      {"9223372036854775808", 0x1p63},
      {"0.1", 0x1.999999999999ap-4},
      {"1e22", 1e22},
      {"1e23", 1e23},
      {"8.41e21", 8.41e21},
      {"5e-27", 5e-27},
      {"0.30000000000000004", 0x1.3333333333334p-2},
      {"12345678901234567890123", 12345678901234567890123.0},
      {"1e-300", 1e-300}};
  for (const auto& [text, value] : kNumbers) EXPECT_EQ(number(text), value) << text;
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const double value =
        std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 60) - 50);
    JsonWriter json;
    json.value(value);
    EXPECT_EQ(number(json.text()), value) << json.text();
  }
  EXPECT_EQ(number("1e-400"), 0);
}

TEST(JsonValue, WhatIsNoJsonIsRefusedWithItsPlace) {
  for (const char* text : {"",        "{",          "[1,]",        "[1 2]",
                           "{\"a\"}", "{\"a\":1,}", "{a:1}",       "01",
                           "1.",      ".5",         "+1",          "-",
                           "1e",      "tru",        "nul",         "\"",
                           "\"\\x\"", "\"\\u12\"",  "\"\\u00H0\"", "\"\\u-001\"",
                           "\"\n\"",  "\"\xFF\"",   "1 2",         "{\"a\":1,\"a\":2}",
                           "1e999",   "NaN"})
    EXPECT_FALSE(parse_json(text).has_value()) << text;
  EXPECT_EQ(parse_json("[1,2,x]").error().offset, 5);
  EXPECT_EQ(parse_json(std::string(100, '[')).error().code, ErrorCode::limit_exceeded);
  std::string many = "[0";
  for (size_t i = 0; i < kMostJsonValues; ++i) many += ",0";
  EXPECT_EQ(parse_json(many + "]").error().code, ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace gpustrata
