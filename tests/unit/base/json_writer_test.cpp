#include "engine/base/json_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace gpustrata {
namespace {

template <typename T>
std::string text_of(const T& value) {
  JsonWriter json;
  json.value(value);
  return json.text();
}

TEST(JsonWriter, PutsCommasBetweenMembersAndElementsOnly) {
  JsonWriter json;
  json.begin_object();
  json.key("empty");
  json.begin_array();
  json.end_array();
  json.member("a", 1);
  json.key("list");
  json.begin_array();
  json.value("x");
  json.begin_object();
  json.end_object();
  json.null();
  json.raw("[1]");
  json.end_array();
  json.member("last", true);
  json.end_object();
  EXPECT_EQ(json.text(), R"({"empty":[],"a":1,"list":["x",{},null,[1]],"last":true})");
}

TEST(JsonWriter, IntegersAreExactTo64Bits) {
  EXPECT_EQ(text_of(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text_of(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(text_of(int16_t{-7}), "-7");
}

TEST(JsonWriter, DoublesAreTheShortestTextThatReadsBackTheSame) {
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(text_of(5e-324), "5e-324");
}

TEST(JsonWriter, WholeDoublesStayDoubles) {
  EXPECT_EQ(text_of(1.0), "1.0");
  EXPECT_EQ(text_of(-0.0), "-0.0");
  EXPECT_EQ(text_of(1e300), "1e+300");
}

TEST(JsonWriter, NotANumberAndInfinitiesBecomeNull) {
  EXPECT_EQ(text_of(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(text_of(-std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonWriter, OptionalsWithoutValueAreNull) {
  EXPECT_EQ(text_of(std::optional<int64_t>()), "null");
  EXPECT_EQ(text_of(std::optional<int64_t>(4)), "4");
}

TEST(JsonWriter, EscapesQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(text_of("a\"b\\c\n\r\t\x01\x1f\x7f"), "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u001f\\u007f\"");
  EXPECT_EQ(text_of(std::string_view("\0", 1)), "\"\\u0000\"");
}

TEST(JsonWriter, EscapesWhatATerminalObeys) {
  // DEL, and the 8-bit forms of ESC [ and ESC ]. U+00A0 comes right behind them and is a plain space.
  EXPECT_EQ(text_of("\x7f\u009b31m\u009d\u0080\u009f\u00a0"),
            "\"\\u007f\\u009b31m\\u009d\\u0080\\u009f\u00a0\"");
}

TEST(JsonWriter, WhatIsNotShownBeyondUFFFFIsAPairOfSurrogates) {
  // The tag A: 0xE0041 - 0x10000 = 0xD0041 = 0x340 * 0x400 + 0x41.
  EXPECT_EQ(text_of("\U000E0041"), "\"\\udb40\\udc41\"");
}

TEST(JsonWriter, KeepsUtf8OfEveryLength) {
  EXPECT_EQ(text_of("\u00e9 \u20ac \U0001F600"), "\"\u00e9 \u20ac \U0001F600\"");
}

TEST(JsonWriter, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(text_of("a\xff"
                    "b"),
            "\"a\uFFFDb\"");
  EXPECT_EQ(text_of("cut \xe2\x82"), "\"cut \uFFFD\"");  // the beginning of the euro sign
  EXPECT_EQ(text_of("\xe2\x82\"x"), "\"\uFFFD\\\"x\"");  // ... before a quote that must be escaped
  EXPECT_EQ(text_of("\xc0\xaf"), "\"\uFFFD\uFFFD\"");    // a slash in a form longer than needed
  EXPECT_EQ(text_of("\xf4\x90\x80\x80"), "\"\uFFFD\uFFFD\uFFFD\uFFFD\"");  // beyond U+10FFFF
}

TEST(JsonWriter, ALoneSurrogateIsOneReplacement) { EXPECT_EQ(text_of("\xed\xa0\x80!"), "\"\uFFFD!\""); }

}  // namespace
}  // namespace gpustrata
