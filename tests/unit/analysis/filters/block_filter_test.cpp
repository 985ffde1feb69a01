#include "engine/analysis/filters/block_filter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/device/device.h"
#include "engine/analysis/filters/filter_completion.h"
#include "engine/analysis/filters/filter_syntax.h"
#include "engine/analysis/live/block_groups.h"
#include "engine/answers/filters/filter_completion.h"
#include "engine/answers/live/block_groups.h"
#include "engine/answers/text/json_of.h"
#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using Ranks = std::vector<int32_t>;

class BlockFilter : public ::testing::Test {
 protected:
  // Events: 0 A comes, 1 B, 2 C, 3-4 B goes, 5 D comes. Peak at C: 100 + 2000 + 30.
  void SetUp() override {
    story.alloc(kBase, 100).frames({"leaf", "attention"}).time(1000);
    story.alloc(kBase + 4096, 2000).frames({"leaf", "mlp"}).stream(70).time(1010);
    story.alloc(kBase + 8192, 30).frames({"leaf", "attention"}).stream(90).time(2000).pool(1, 2);
    story.request(kBase + 4096, 2000).stream(70).time(3000);
    story.complete(kBase + 4096, 2000).stream(70).time(3010);
    story.alloc(kBase + 4096, 500).metadata("step 3").stream(90).time(4000);
    ASSERT_TRUE(story.stored() && story.lifetimes().has_value());
    auto opened = Device::open(story.recording, snapshot(), 0);
    ASSERT_TRUE(opened.has_value());
    device = std::move(*opened);
    lifetimes = &device->lives();
    attributes = *device->attributes();
  }

  const model::Part& snapshot() { return story.recording.parts[0]; }
  Ranks find(std::string_view text) {
    auto found = filter_blocks(*device, text);
    EXPECT_TRUE(found.has_value()) << text << ": " << (found ? "" : found.error().message);
    if (!found) return {};
    bytes = found->bytes;
    return Ranks(found->ranks.begin(), found->ranks.end());
  }
  std::optional<BlockGroups> group(GroupBy by) {
    const auto lines = find_keys(story.recording, By::line);
    EXPECT_TRUE(lines.has_value());
    auto found = group_blocks(story.recording, *lifetimes, *attributes, by, {}, &*lines);
    EXPECT_TRUE(found.has_value());
    return std::optional<BlockGroups>(std::move(*found));
  }
  std::vector<std::string> complete(std::string_view text) {
    std::vector<std::string> texts;
    const auto found = complete_filter(story.recording, *lifetimes, *attributes, text, text.size());
    from = found.from;
    for (const auto& item : found.items) texts.push_back(item.text);
    return texts;
  }

  Story story;
  std::unique_ptr<Device> device;
  const replay::BlockLives* lifetimes = nullptr;  // of the device
  const BlockAttributes* attributes = nullptr;
  int64_t bytes = 0;
  size_t from = 0;
};

TEST_F(BlockFilter, ATotalGoesWithTheMatches) {
  EXPECT_EQ(find("size>=100"), (Ranks{0, 1, 3}));
  EXPECT_EQ(bytes, 2600);
  EXPECT_EQ(find(""), Ranks{});
}

TEST_F(BlockFilter, TermsMeanWhatTheDetailsTell) {
  EXPECT_EQ(find("stack:attention"), (Ranks{0, 2}));
  EXPECT_EQ(find("attention size>50"), Ranks{0});
  EXPECT_EQ(find("stack:attention or stack:mlp"), (Ranks{0, 1, 2}));
  EXPECT_EQ(find("-stack:attention"), (Ranks{1, 3}));
  EXPECT_EQ(find("not (stack:attention or metadata:step)"), Ranks{1});
  EXPECT_EQ(find("stream:0"), Ranks{0});
  EXPECT_EQ(find("stream:1"), Ranks{1});  // handle 70 comes first
  EXPECT_EQ(find("stream:2"), (Ranks{2, 3}));
  EXPECT_EQ(find("stream:0x46"), Ranks{1});
  EXPECT_EQ(find("pool:1,2"), Ranks{2});
  EXPECT_EQ(find("alive@peak"), (Ranks{0, 1, 2}));
  EXPECT_EQ(find("alive@end"), (Ranks{0, 2, 3}));
  EXPECT_EQ(find("alive@start"), Ranks{});
  EXPECT_EQ(find("alive@0"), Ranks{0});
  EXPECT_EQ(find("freed:never"), (Ranks{0, 2, 3}));
  EXPECT_EQ(find("freed<5"), Ranks{1});
  EXPECT_EQ(find("freed>0"), Ranks{1});  // never is no event
  EXPECT_EQ(find("born:1..2"), (Ranks{1, 2}));
  EXPECT_EQ(find("address:7f064c001000_1"), Ranks{3});
}

TEST_F(BlockFilter, WhatIsNeverFreedLivedAtLeastToTheEnd) {
  // In events: A 0-6, B 1-4, C 2-6, D 5-6. In time: A 3000 us, B about 2000, C 2000, D 0. Only B is freed.
  EXPECT_EQ(find("lifetime>=4"), (Ranks{0, 2}));
  EXPECT_EQ(find("lifetime<=1"), Ranks{});  // D may live for long
  EXPECT_EQ(find("lifetime<=3"), Ranks{1});
  EXPECT_EQ(find("lifetime:3..6"), Ranks{1});
  EXPECT_EQ(find("not lifetime>=4"), (Ranks{1, 3}));
  EXPECT_EQ(find("lifetime>2.5ms"), Ranks{0});
  EXPECT_EQ(find("lifetime<1ms"), Ranks{});
  EXPECT_EQ(find("lifetime<2.5ms"), Ranks{1});
}

TEST_F(BlockFilter, AWrongFilterSaysWhere) {
  const auto found = filter_blocks(*device, "size>1 pool:x");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().offset, 12);
}

TEST_F(BlockFilter, ACategoryIsWhatTheRulesSay) {
  // Only B is freed.
  const auto ruled = Device::open(story.recording, snapshot(), 0, "temporary 1 freed\n");
  ASSERT_TRUE(ruled.has_value());
  const auto ranks_of = [&](std::string_view text) {
    const auto found = filter_blocks(**ruled, text);
    return found ? Ranks(found->ranks.begin(), found->ranks.end()) : Ranks{-1};
  };
  EXPECT_EQ(ranks_of("category:temporary"), Ranks{1});
  EXPECT_EQ(ranks_of("category=Temporary"), Ranks{1});
  EXPECT_EQ(ranks_of("-category:temporary size>50"), (Ranks{0, 3}));
  EXPECT_EQ(ranks_of("category:unknown"), (Ranks{0, 2, 3}));
  EXPECT_EQ(ranks_of("category:nothing"), Ranks{-1});
  EXPECT_EQ(complete("category:te"), std::vector<std::string>{"category:temporary"});
}

TEST_F(BlockFilter, CompletionKnowsFieldsAndWhatIsInTheFile) {
  EXPECT_EQ(complete("size>1 str"), std::vector<std::string>{"stream:"});
  EXPECT_EQ(from, 7u);
  EXPECT_EQ(complete("-al"), std::vector<std::string>{"alive@"});
  EXPECT_EQ(from, 1u);
  EXPECT_EQ(complete("alive@"), (std::vector<std::string>{"alive@peak", "alive@start", "alive@end"}));
  // The most bytes at the peak come first: B, A, C.
  EXPECT_EQ(complete("stream:"), (std::vector<std::string>{"stream:1", "stream:0", "stream:2"}));
  EXPECT_EQ(complete("pool:"), std::vector<std::string>{"pool:1,2"});
  EXPECT_EQ(complete("stack:Att"), std::vector<std::string>{"stack:attention"});
  EXPECT_EQ(complete("size>"), std::vector<std::string>{});
  EXPECT_EQ(complete("").size(), filter_words().size() - 1);  // blocks have no action
}

TEST_F(BlockFilter, GroupsByStackAndStreamAreTheLargestAtThePeakFirst) {
  auto groups = group(GroupBy::stack);
  // attention's and mlp's: one line, leaf at file.py:1, asked for all of it.
  ASSERT_EQ(groups->kinds.size(), 2u);
  EXPECT_EQ(answers::kind_text(story.recording, *groups, groups->kinds[0]), "leaf file.py:1");
  EXPECT_EQ(groups->kinds[0].blocks, 3);
  EXPECT_EQ(groups->kinds[1].blocks, 1);
  EXPECT_EQ(answers::kind_text(story.recording, *groups, groups->kinds[1]), "no stack");
  const auto live = ranks_in(*lifetimes, When::alive(lifetimes->peak_event), {}, story.recording.budget);
  ASSERT_TRUE(live.has_value());
  const auto shares = shares_of(*lifetimes, *groups, live->span());
  EXPECT_EQ(shares[0].bytes, 2130);
  EXPECT_EQ(shares[0].blocks, 3);
  EXPECT_EQ(shares[1].bytes, 0);
  groups.emplace(std::move(*group(GroupBy::stream)));
  EXPECT_EQ(answers::kind_text(story.recording, *groups, groups->kinds[0]), "stream 1");
  EXPECT_EQ(answers::kind_text(story.recording, *groups, groups->kinds[1]), "default stream (0)");
}

TEST(BlockGroups, CategoriesOfTheProfilerAreKindsAndAbsentOnesUnknown) {
  Story story;
  story.alloc(kBase, 300).extra("category", "\"gradient\"");
  story.alloc(kBase + 4096, 100).extra("category", "\"unknown\"");
  story.alloc(kBase + 8192, 20);
  story.alloc(kBase + 12288, 200).extra("other", "1").extra("category", "\"activation\"");
  story.complete(kBase + 16384, 5).extra("category", "\"gradient\"");  // known by its free
  ASSERT_TRUE(story.stored());
  const auto lifetimes = story.lifetimes();
  story.recording.seal();
  const auto attributes = block_attributes(story.recording, story.recording.parts[0], *lifetimes);
  const auto groups = group_blocks(story.recording, *lifetimes, *attributes, GroupBy::category, {}, nullptr);
  ASSERT_TRUE(groups.has_value());
  std::vector<std::string> found;
  for (const auto& kind : groups->kinds)
    found.push_back(fmt::format("{} {}", answers::kind_text(story.recording, *groups, kind), kind.blocks));
  EXPECT_EQ(found, (std::vector<std::string>{"gradient 2", "activation 1", "unknown 2"}));
}

TEST(BlockGroups, OfAsManyBytesAtThePeakThoseThatStayComeFirst) {
  Story story;
  story.alloc(kBase, 200).extra("category", "\"parameter\"");
  for (int step = 0; step < 2; ++step) {
    story.alloc(kBase + 4096, 200).extra("category", "\"gradient\"");
    story.complete(kBase + 4096, 200);
  }
  story.alloc(kBase + 8192, 100).extra("category", "\"input\"");  // neither is there at the peak
  story.complete(kBase + 8192, 100);
  story.alloc(kBase + 8192, 150).extra("category", "\"activation\"");
  const auto lifetimes = story.lifetimes();
  ASSERT_TRUE(lifetimes.has_value());
  story.recording.seal();
  const auto attributes = block_attributes(story.recording, story.recording.parts[0], *lifetimes);
  const auto groups = group_blocks(story.recording, *lifetimes, *attributes, GroupBy::category, {}, nullptr);
  ASSERT_TRUE(groups.has_value());
  std::vector<std::string> found;
  for (const auto& kind : groups->kinds) found.push_back(answers::kind_text(story.recording, *groups, kind));
  EXPECT_EQ(found, (std::vector<std::string>{"parameter", "gradient", "activation", "input"}));
}

TEST(BlockGroups, PoolIdsAreUnsignedAsEverywhere) {
  Story story;
  story.alloc(kBase, 300).pool(-1, 2);
  story.alloc(kBase + 4096, 100).pool(0, 0);
  ASSERT_TRUE(story.stored() && story.lifetimes().has_value());
  const auto device = Device::open(story.recording, story.recording.parts[0], 0);
  ASSERT_TRUE(device.has_value());
  const replay::BlockLives* const lifetimes = &(*device)->lives();
  const auto attributes = *(*device)->attributes();
  const auto groups = group_blocks(story.recording, *lifetimes, *attributes, GroupBy::pool, {}, nullptr);
  EXPECT_EQ(answers::kind_text(story.recording, *groups, groups->kinds[0]), "pool (18446744073709551615, 2)");
  EXPECT_EQ(answers::kind_text(story.recording, *groups, groups->kinds[1]), "default pool (0, 0)");
  const auto completed = complete_filter(story.recording, *lifetimes, *attributes, "pool:1", 6);
  ASSERT_EQ(completed.items.size(), 1u);
  EXPECT_EQ(completed.items[0].text, "pool:18446744073709551615,2");
  const auto matches = filter_blocks(**device, completed.items[0].text);
  ASSERT_TRUE(matches.has_value());
  EXPECT_EQ(Ranks(matches->ranks.begin(), matches->ranks.end()), Ranks{0});
}

TEST_F(BlockFilter, ClassesKeepTheirOrder) {
  auto groups = group(GroupBy::size);
  ASSERT_TRUE(groups->ordered);
  EXPECT_EQ(groups->group[0], 0u);  // 100 bytes
  EXPECT_EQ(groups->group[1], 1u);  // 2000
  groups.emplace(std::move(*group(GroupBy::lifetime)));
  EXPECT_EQ(answers::kind_text(story.recording, *groups, groups->kinds[groups->group[0]]), "never freed");
  EXPECT_EQ(answers::kind_text(story.recording, *groups, groups->kinds[groups->group[1]]), "1 to 10 ms");
  groups.emplace(std::move(*group(GroupBy::age)));
  EXPECT_EQ(groups->group[0], 1u);
  EXPECT_EQ(groups->group[3], 7u);  // event 5 of 6 lies in the seventh eighth
  EXPECT_EQ(answers::kind_text(story.recording, *groups, groups->kinds[7]), "since event 5");
  groups.emplace(std::move(*group(GroupBy::allocation)));
  EXPECT_TRUE(groups->kinds.empty());
}

TEST(BlockGroups, ManyKindsKeepTheLargestAndSayHowManyAreTogether) {
  Story story;
  for (int i = 0; i < 20; ++i) story.alloc(kBase + static_cast<uint64_t>(i) * 4096, 100 + i).stream(i + 1);
  const auto lifetimes = story.lifetimes();
  const auto attributes = block_attributes(story.recording, story.recording.parts[0], *lifetimes);
  const auto groups = group_blocks(story.recording, *lifetimes, *attributes, GroupBy::stream, {}, nullptr);
  ASSERT_EQ(groups->kinds.size(), kMostKinds);
  EXPECT_EQ(answers::kind_text(story.recording, *groups, groups->kinds[0]), "stream 20");
  EXPECT_EQ(answers::kind_text(story.recording, *groups, groups->kinds.back()), "9 others");
  EXPECT_EQ(groups->kinds.back().merged, 9);
  EXPECT_EQ(groups->kinds.back().blocks, 9);
  int64_t bytes = 0;
  const auto live = ranks_in(*lifetimes, When::alive(lifetimes->peak_event), {}, story.recording.budget);
  ASSERT_TRUE(live.has_value());
  for (const Share& share : shares_of(*lifetimes, *groups, live->span())) bytes += share.bytes;
  EXPECT_EQ(bytes, lifetimes->peak_level);
}

// Random stories and random filters against what each term means for one block.
TEST(BlockFilterProperty, AgreesWithOneBlockAtATime) {
  std::mt19937_64 random(11);  // NOLINT: the same stories every time
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 200; ++round) {
    Story story;
    int64_t time = 0;
    for (int64_t i = below(60); i >= 0; --i) {
      const auto address = kBase + static_cast<uint64_t>(below(12)) * 512;
      time += below(2000);
      if (below(3) == 0) {
        story.complete(address, 1);
      } else {
        story.alloc(address, below(5000));
      }
      story.stream(below(3) * 7).time(time);
    }
    ASSERT_TRUE(story.stored() && story.lifetimes().has_value());
    const auto device = Device::open(story.recording, story.recording.parts[0], 0);
    ASSERT_TRUE(device.has_value());
    const replay::BlockLives* const lives = &(*device)->lives();
    const int64_t size = below(5000), event = below(60), us = below(30000), born = below(60);
    const auto text = fmt::format("(size>{} or -alive@{}) lifetime<={}us (born>={} or freed<{})", size, event,
                                  us, born, born);
    const auto found = filter_blocks(**device, text);
    ASSERT_TRUE(found.has_value()) << text;
    const int32_t count = lives->events.count;
    const auto time_at = [&](int32_t e) { return story.recording.events.time[static_cast<size_t>(e)]; };
    for (int32_t rank = 0; rank < lives->count(); ++rank) {
      const auto r = static_cast<size_t>(rank);
      const int32_t b = lives->born[r], f = lives->freed[r];
      const int64_t at = event < count ? event : count - 1;
      const bool alive = b <= at && at < f;
      const int64_t lived = time_at(f < count ? f : count - 1) - time_at(b < 0 ? 0 : b);
      const bool meant = (lives->size[r] > size || !alive) && b >= 0 && f < count && lived <= us &&
                         ((b >= 0 && b >= born) || (f < count && f < born));
      EXPECT_EQ(found->matched[r] != 0, meant) << text << " rank " << rank;
    }
  }
}

}  // namespace
}  // namespace gpustrata::analysis
