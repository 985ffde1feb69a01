#include "engine/answers/common/findings.h"

#include <gtest/gtest.h>

namespace gpustrata::answers {
namespace {

TEST(Findings, EveryKindHasASentence) {
  for (int i = 0; i < static_cast<int>(model::Diag::kCount); ++i) {
    const std::string_view text = text_of(static_cast<model::Diag>(i));
    ASSERT_GT(text.size(), 20u);
    EXPECT_TRUE(text.front() >= 'A' && text.front() <= 'Z') << text;
    EXPECT_EQ(text.back(), '.') << text;
  }
}

}  // namespace
}  // namespace gpustrata::answers
