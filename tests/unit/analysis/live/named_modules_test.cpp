// Modules that a trace names itself, as frames "nn.Module: Linear_0".
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/live/top.h"
#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {
namespace {

TEST(Holders, TheInnermostNamedModuleHoldsABlock) {
  Story story;
  story.alloc(0x10000, 100).frames({"aten::mm", "nn.Module: Linear_0", "nn.Module: Net_0", "main"});
  story.alloc(0x20000, 7).frames({"aten::add", "nn.Module: Net_0", "main"});
  story.alloc(0x30000, 1).frames({"aten::zeros", "main"});
  story.recording.seal();
  ASSERT_TRUE(story.stored());
  const auto lives = story.lifetimes();
  ASSERT_TRUE(lives.has_value());
  const auto keys = find_keys(story.recording, By::module);
  ASSERT_TRUE(keys.has_value());
  const auto found = find_top(story.recording, story.recording.parts[0], *lives, When::alive(2), By::module,
                              kAllGroups, {}, &*keys);
  ASSERT_TRUE(found.has_value());
  std::vector<std::pair<std::string, int64_t>> rows;
  for (const TopGroup& one : found->groups)
    rows.emplace_back(
        one.key < 0
            ? "-"
            : std::string(story.recording.strings.view(story.recording.frames[keys->frame[one.key]].name)),
        one.bytes);
  EXPECT_EQ(rows, (std::vector<std::pair<std::string, int64_t>>{
                      {"nn.Module: Linear_0", 100}, {"nn.Module: Net_0", 7}, {"-", 1}}));
}

}  // namespace
}  // namespace gpustrata::analysis
