#include "engine/base/base64.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpustrata {
namespace {

std::vector<uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

TEST(Base64, AsInTheStandard) {
  // RFC 4648 section 10.
  const std::pair<std::string_view, std::string_view> kVectors[] = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"},
                                                                    {"\xFF\xEF\xBE", "/+++"}};
  for (const auto& [plain, text] : kVectors) {
    EXPECT_EQ(base64_of(bytes_of(plain)), text);
    ASSERT_EQ(bytes_of_base64(text), plain.size());
    std::vector<uint8_t> read(plain.size());
    EXPECT_EQ(read_base64(text, read), text.size());
    EXPECT_EQ(read, bytes_of(plain));
  }
}

TEST(Base64, WhatIsNoneIsToldByItsPlace) {
  EXPECT_EQ(bytes_of_base64("Zg="), SIZE_MAX);
  std::vector<uint8_t> read(3);
  EXPECT_EQ(read_base64("Zm!v", read), 2U);
  EXPECT_EQ(read_base64("Z=9v", read), 1U);
  EXPECT_EQ(bytes_of_base64("===="), 1U);  // two of them are letters, and wrong
  EXPECT_EQ(read_base64("====", read), 0U);
}

}  // namespace
}  // namespace gpustrata
