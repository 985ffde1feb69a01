// Memory by line of source: its own and what passed through it, each block once.
#include "engine/analysis/live/source_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/answers/stacks/who.h"
#include "tests/unit/analysis/opened_story.h"

namespace gpustrata::analysis {
namespace {

// 100 and 200 bytes by a.py:1, called at b.py:5 and b.py:6; 400 by a line that calls itself, a.py:2, called at b.py:5;
// 800 without a stack.
class LinesOfSource : public testing::Test {
 protected:
  void SetUp() override {
    add(100, {{"f", "a.py", 1}, {"main", "b.py", 5}});
    add(200, {{"f", "a.py", 1}, {"main", "b.py", 6}});
    add(400, {{"g", "a.py", 2}, {"g", "a.py", 2}, {"main", "b.py", 5}});
    story.alloc(place += 4096, 800);
  }
  struct Call {
    std::string_view name, file;
    int32_t line;
  };
  void add(int64_t size, std::initializer_list<Call> calls) {
    story.alloc(place += 4096, size);
    std::vector<FrameId> frames;
    for (const Call& call : calls) frames.push_back(story.frame(call.name, call.file, call.line));
    story.recording.events.stack.back() = story.recording.stacks.intern(frames);
  }
  [[nodiscard]] static std::vector<int64_t> numbers_of(const SourceLine& line) {
    return {line.line, line.own_bytes, line.own_blocks, line.bytes, line.blocks};
  }

  [[nodiscard]] static Keys by(const OpenedStory& opened, By by) {
    auto keys = find_keys(opened.recording, by);
    EXPECT_TRUE(keys.has_value());
    return std::move(*keys);
  }

  Story story;
  uint64_t place = uint64_t{1} << 40;
};

TEST_F(LinesOfSource, StacksOfOneLineAddUp) {
  const OpenedStory opened(story);
  const auto found =
      find_source_lines(opened.recording, opened.part(), *opened.lifetimes, 3, "a.py", by(opened, By::line));
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->lines.size(), 2U);
  EXPECT_THAT(numbers_of(found->lines[0]), testing::ElementsAre(1, 300, 2, 300, 2));
  EXPECT_THAT(numbers_of(found->lines[1]),
              testing::ElementsAre(2, 400, 1, 400, 1));  // once, though twice in the stack
  EXPECT_EQ(found->left_out, 0);
}

TEST_F(LinesOfSource, WhatPassedThroughALineIsNotItsOwn) {
  const OpenedStory opened(story);
  const auto found =
      find_source_lines(opened.recording, opened.part(), *opened.lifetimes, 3, "b.py", by(opened, By::line));
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->lines.size(), 2U);
  EXPECT_THAT(numbers_of(found->lines[0]), testing::ElementsAre(5, 0, 0, 500, 2));
  EXPECT_THAT(numbers_of(found->lines[1]), testing::ElementsAre(6, 0, 0, 200, 1));
}

TEST_F(LinesOfSource, OnlyWhatIsAliveCounts) {
  const OpenedStory opened(story);
  const auto found =
      find_source_lines(opened.recording, opened.part(), *opened.lifetimes, 0, "a.py", by(opened, By::line));
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->lines.size(), 1U);
  EXPECT_THAT(numbers_of(found->lines[0]), testing::ElementsAre(1, 100, 1, 100, 1));
}

TEST_F(LinesOfSource, FilesHaveWhatTheirOwnLinesAskedFor) {
  add(5000, {{"h", "c.py", 9}});
  add(50, {{"i", "d.py", 0}});  // no line is known
  const OpenedStory opened(story);
  const auto found =
      find_source_files(opened.recording, opened.part(), *opened.lifetimes, 5, by(opened, By::file));
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 2U);  // most bytes first
  EXPECT_EQ(answers::recorded_file(opened.recording, (*found)[0].who), "c.py");
  EXPECT_EQ((*found)[0].bytes, 5000);
  EXPECT_EQ(answers::recorded_file(opened.recording, (*found)[1].who), "a.py");
  EXPECT_EQ((*found)[1].bytes, 700);
  EXPECT_EQ((*found)[1].blocks, 3);
}

}  // namespace
}  // namespace gpustrata::analysis
