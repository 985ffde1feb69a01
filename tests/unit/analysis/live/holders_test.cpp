// Who asked for the memory of a moment, by hand.
//
// Stacks, innermost first: attention = attend a.py:7, forward a.py:9, (call), forward b.py:20, main m.py:1
//                          linear    = linear torch, forward linear torch, (call), forward b.py:20, main m.py:1
//                          step      = step torch, main m.py:1

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/analysis/categories/known_categories.h"
#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/live/weigh.h"
#include "engine/analysis/stacks/keys.h"
#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {
namespace {

class Holding : public testing::Test {
 protected:
  void SetUp() override {
    const std::string torch = "/env/lib/python3.11/site-packages/torch/";
    const FrameId main = story.frame("main", "/run/m.py", 1), block = story.frame("forward", "/run/b.py", 20),
                  wrapped = story.frame("_wrapped_call_impl", torch + "nn/modules/module.py", 3),
                  call = story.frame("_call_impl", torch + "nn/modules/module.py", 5),
                  attention = story.frame("forward", "/run/a.py", 9),
                  attend = story.frame("attend", "/run/a.py", 7),
                  of_linear = story.frame("forward", torch + "nn/modules/linear.py", 2),
                  linear = story.frame("linear", torch + "nn/functional.py", 4),
                  step = story.frame("step", torch + "optim/adam.py", 6);
    const auto stack = [&](std::vector<FrameId> frames) { return story.recording.stacks.intern(frames); };
    const StackId a = stack({attend, attention, call, wrapped, block, main}),
                  l = stack({linear, of_linear, call, wrapped, block, main}), s = stack({step, main});
    const auto alloc = [&](uint64_t address, int64_t size, StackId of) {
      story.alloc(address, size);
      story.recording.events.stack.back() = of;
    };
    alloc(0x1000, 10, a);
    alloc(0x2000, 20, l);
    alloc(0x3000, 5, l);
    alloc(0x4000, 100, s);
    alloc(0x5000, 3, {});
    story.complete(0x2000, 20);
    story.recording.seal();
    auto found = story.lifetimes();
    ASSERT_TRUE(found && story.stored());
    lives.emplace(std::move(*found));
    auto known = block_attributes(story.recording, story.recording.parts[0], *lives);
    ASSERT_TRUE(known.has_value());
    attributes.emplace(std::move(*known));
  }

  // {key's frame as name:line, bytes, blocks, largest}
  using Row = std::tuple<std::string, int64_t, int64_t, int32_t>;
  [[nodiscard]] std::vector<Row> rows(By by, int32_t event) {
    auto keys = find_keys(story.recording, by);
    const auto live = ranks_in(*lives, When::alive(event), {}, story.recording.budget);
    EXPECT_TRUE(keys && live);
    const auto by_stack =
        sums_by_stack(*lives, live->span(), attributes->stack.span(), {}, story.recording.budget);
    BlockSums sums(story.recording.budget);
    EXPECT_TRUE(by_stack &&
                regroup(
                    *by_stack, [&](const BlockSum& sum) { return keys->of(StackId{sum.key}); }, sums));
    sums.order();
    std::vector<Row> all;
    for (const BlockSum& one : sums.rows()) {
      std::string name = "-";
      if (one.key >= 0) {
        const trace::Frame& frame = story.recording.frames[keys->frame[one.key]];
        name = std::string(story.recording.strings.view(frame.name)) + ":" + std::to_string(frame.line);
      }
      all.emplace_back(name, one.bytes, one.blocks, one.largest);
    }
    EXPECT_EQ(sums.bytes(), lives->level_after(event));
    return all;
  }

  Story story;
  std::optional<replay::BlockLives> lives;
  std::optional<BlockAttributes> attributes;
};

TEST_F(Holding, ByLineFunctionAndFile) {
  // Of linear and step the program's own caller asked.
  EXPECT_EQ(rows(By::line, 4),
            (std::vector<Row>{
                {"main:1", 100, 1, 3}, {"forward:20", 25, 2, 1}, {"attend:7", 10, 1, 0}, {"-", 3, 1, 4}}));
  EXPECT_EQ(rows(By::line, 5),
            (std::vector<Row>{
                {"main:1", 100, 1, 3}, {"attend:7", 10, 1, 0}, {"forward:20", 5, 1, 2}, {"-", 3, 1, 4}}));
  EXPECT_EQ(rows(By::line, -1), std::vector<Row>{});
  EXPECT_EQ(rows(By::file, 4).size(), 4U);
}

TEST_F(Holding, ByModule) {
  // linear.py's forward called at b.py:20, a.py's forward called there too; the optimizer is in no module.
  EXPECT_EQ(rows(By::module, 4),
            (std::vector<Row>{{"-", 103, 2, 3}, {"forward:2", 25, 2, 1}, {"forward:9", 10, 1, 0}}));
  const auto keys = find_keys(story.recording, By::module);
  ASSERT_TRUE(keys.has_value());
  for (const FrameId site : keys->site) EXPECT_EQ(story.recording.frames[site].line, 20);
}

TEST_F(Holding, ByCategoryOfAUsersRules) {
  auto rules = parse_category_rules("optimizer_state 0.5 frame:torch/optim/\nactivation 0.8 in_module\n");
  ASSERT_TRUE(rules.has_value());
  const Steps none(story.recording.budget);
  auto categories =
      find_categories(story.recording, story.recording.parts[0], *lives, attributes->stack, none, *rules);
  ASSERT_TRUE(categories.has_value());
  const std::vector<uint8_t> lit{1, 0, 1, 0, 0};
  const auto live = ranks_in(*lives, When::alive(4), {}, story.recording.budget);
  ASSERT_TRUE(live.has_value());
  const auto found = sums_by_category(*lives, live->span(), *categories, *rules, lit, story.recording.budget);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->sums.rows().size(), 3U);
  using Category = std::tuple<std::string, int64_t, int64_t, double>;
  const auto row = [&](size_t i) {
    const BlockSum& one = found->sums.rows()[i];
    const auto number = static_cast<size_t>(one.key);
    return Category(rules->names[number], one.bytes, one.lit_bytes, found->sure[number]);
  };
  EXPECT_EQ(row(0), Category("optimizer_state", 100, 0, 0.5));
  EXPECT_EQ(row(1), Category("activation", 35, 15, 0.8));
  EXPECT_EQ(row(2), Category("unknown", 3, 0, 0.0));
}

}  // namespace
}  // namespace gpustrata::analysis
