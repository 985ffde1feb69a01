// What came in a stretch and stays for good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/analysis/live/top.h"
#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

TEST(NeverFreed, OfAStretchByLine) {
  Story story;
  story.complete(kBase, 1000);                                 // 0: from before, gone
  story.alloc(kBase + 4096, 100).frames({"keep", "main"});     // 1: stays
  story.alloc(kBase + 8192, 7).frames({"temporary", "main"});  // 2
  story.complete(kBase + 8192, 7);                             // 3
  story.alloc(kBase + 12288, 30).frames({"keep", "main"});     // 4: stays
  story.alloc(kBase + 16384, 5).frames({"late", "main"});      // 5: stays
  story.segment(kBase, 1 << 20).block(kBase + 20480, 512, 64, model::BlockState::active_allocated);
  const auto lives = story.lifetimes();
  ASSERT_TRUE(lives.has_value());
  const auto of = [&](int32_t from, int32_t until) {
    auto found = find_top(story.recording, story.recording.parts[0], *lives,
                          When::never_freed(*lives, from, until), By::line, kAllGroups);
    EXPECT_TRUE(found.has_value());
    return std::move(*found);
  };
  const Top until_4 = of(0, 4);
  EXPECT_EQ(until_4.bytes, 130);
  ASSERT_EQ(until_4.groups.size(), 1u);
  EXPECT_EQ(until_4.groups[0].blocks, 2);
  EXPECT_EQ(until_4.groups[0].who.name, "keep");
  EXPECT_EQ(of(2, 4).bytes, 30);
  EXPECT_EQ(of(0, 5).bytes, 135);
  EXPECT_EQ(of(-1, 5).bytes, 135 + 64);  // and the block from before that is still there
  EXPECT_EQ(of(0, 0).bytes, 0);
  EXPECT_EQ(of(4, 2).bytes, 0);
}

}  // namespace
}  // namespace gpustrata::analysis
