#include "engine/model/diagnostics.h"

#include <gtest/gtest.h>

#include <set>

namespace gpustrata::model {
namespace {

TEST(Diagnostics, EveryKindHasAName) {
  std::set<std::string_view> names;
  for (int i = 0; i < static_cast<int>(Diag::kCount); ++i) {
    const DiagKind& kind = kind_of(static_cast<Diag>(i));
    EXPECT_EQ(kind.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string_view::npos)
        << kind.name;
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
  }
}

TEST(Diagnostics, TheFirstFindingIsRemembered) {
  Diagnostics diagnostics;
  EXPECT_FALSE(diagnostics.any());
  diagnostics.add(Diag::wrong_type, 100, "size is a list");
  diagnostics.add(Diag::wrong_type, 50, "later");
  diagnostics.add_many(Diag::wrong_type, 3, 7);
  EXPECT_EQ(diagnostics[Diag::wrong_type].count, 5);
  EXPECT_EQ(diagnostics[Diag::wrong_type].first_offset, 100);
  EXPECT_EQ(diagnostics[Diag::wrong_type].detail, "size is a list");
  EXPECT_TRUE(diagnostics.any());
}

TEST(Diagnostics, AddingNoneFindsNothing) {
  Diagnostics diagnostics;
  diagnostics.add_many(Diag::damaged, 0, 7);
  EXPECT_FALSE(diagnostics.any());
}

TEST(Diagnostics, AddingOthersSumsCountsAndKeepsTheFirstPlace) {
  Diagnostics diagnostics, others;
  diagnostics.add(Diag::wrong_type, 10, "first");
  others.add_many(Diag::wrong_type, 4, 3);
  others.add(Diag::damaged, 99, "only there");
  diagnostics.add_all(others);
  EXPECT_EQ(diagnostics[Diag::wrong_type].count, 5);
  EXPECT_EQ(diagnostics[Diag::wrong_type].first_offset, 10);
  EXPECT_EQ(diagnostics[Diag::damaged].detail, "only there");
}

}  // namespace
}  // namespace gpustrata::model
