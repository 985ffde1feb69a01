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
  for (const auto& [plain, text] : kVectors) EXPECT_EQ(base64_of(bytes_of(plain)), text);
}

}  // namespace
}  // namespace gpustrata
