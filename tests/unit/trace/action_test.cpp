#include "engine/trace/action.h"

#include <gtest/gtest.h>

namespace gpustrata::trace {
namespace {

TEST(Action, EveryActionIsFoundByItsName) {
  for (int i = 0; i < static_cast<int>(Action::first_unknown); ++i) {
    const auto action = static_cast<Action>(i);
    ASSERT_FALSE(name_of(action).empty());
    EXPECT_EQ(action_of(name_of(action)), action);
  }
}

TEST(Action, UnknownNamesAreNone) {
  EXPECT_FALSE(action_of("teleport").has_value());
  EXPECT_FALSE(action_of("").has_value());
  EXPECT_EQ(name_of(Action::first_unknown), "");
}

}  // namespace
}  // namespace gpustrata::trace
