#include "engine/analysis/filters/event_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using model::BlockState;
using testing::HasSubstr;
using trace::Action;

using Events = std::vector<int32_t>;

// A segment of 2 MiB. A (1000 bytes in 1024) and B (512) come; A's free is requested by event 3 and completed by event 5, so it is
// never alive with what comes after; then 3 MiB are not to be had.
class EventFilterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    story.event(Action::segment_alloc, kBase, 2 * kMiB, 100);
    story.alloc(kBase, 1000).frames({"attention", "main"}).time(110);
    story.alloc(kBase + 1024, 512).frames({"mlp", "main"}).time(120).stream(70);
    story.request(kBase, 1000).time(130);
    story.event(Action::snapshot, 0, 0, 140);
    story.complete(kBase, 1000).time(150);
    story.event(Action::oom, 1 << 20, 3 * kMiB, 160);
    story.segment(kBase, 2 * kMiB);
    story.block(kBase, 1024, 1000, BlockState::inactive);
    story.block(kBase + 1024, 512, 512, BlockState::active_allocated);
    story.block(kBase + 1536, 2 * kMiB - 1536, 0, BlockState::inactive);
    ASSERT_TRUE(story.stored() && story.lifetimes().has_value());
    story.recording.seal();
    auto opened = Device::open(story.recording, story.recording.parts[0], 0, "temporary 1 freed\n");
    ASSERT_TRUE(opened.has_value());
    device = std::move(*opened);
  }
  [[nodiscard]] Events find(std::string_view text) {
    const auto list = filter_events(*device, text);
    if (!list) return {-1};
    Events events;
    for (int32_t row = 0; row < list->count(); ++row) events.push_back(list->event(row));
    return events;
  }
  [[nodiscard]] std::string refused(std::string_view text) {
    const auto list = filter_events(*device, text);
    return list ? "" : std::to_string(list.error().offset) + ": " + list.error().message;
  }

  Story story;
  std::unique_ptr<Device> device;
};

TEST_F(EventFilterTest, AnEmptyTextMeansAll) { EXPECT_EQ(find(" "), (Events{0, 1, 2, 3, 4, 5, 6})); }

TEST_F(EventFilterTest, Actions) {
  EXPECT_EQ(find("action:alloc"), (Events{1, 2}));
  EXPECT_EQ(find("action:free_requested,free_completed"), (Events{3, 5}));
  EXPECT_EQ(find("action:blocks"), (Events{1, 2, 3, 5}));
  EXPECT_EQ(find("action:segments"), Events{0});
  EXPECT_EQ(find("action:markers"), (Events{4, 6}));
  EXPECT_EQ(find("-action:blocks,segments"), (Events{4, 6}));
  EXPECT_EQ(find("action:segment_unmap"), Events{});  // there is such an action, but no such event
  EXPECT_THAT(refused("size>1 action:nothing"),
              HasSubstr("14: There is no action of this name; there are alloc,"));
  EXPECT_THAT(refused("action>alloc"), HasSubstr("6: action cannot be compared"));
}

TEST_F(EventFilterTest, WhatAnEventSaysItself) {
  EXPECT_EQ(find("size:1000"), (Events{1, 3, 5}));
  EXPECT_EQ(find("size>1MiB"), (Events{0, 6}));
  EXPECT_EQ(find("stream:1"), Events{2});
  EXPECT_EQ(find("stream:0x46"), Events{2});
  EXPECT_EQ(find("action:oom stream:1"), Events{});
  EXPECT_EQ(find("address:\"b'7f064c000000_0\""), (Events{1, 3, 5}));
  EXPECT_EQ(find("s'7f064c"), Events{0});
  EXPECT_EQ(find("address:0x7f064c000400"), Events{2});
  EXPECT_EQ(find("stack:Attention"), Events{1});
  EXPECT_EQ(find("main"), (Events{1, 2}));
  EXPECT_EQ(find("call:*:*:mlp or size>=3MiB"), (Events{2, 6}));
  EXPECT_EQ(find("who:*:*:mlp"), Events{2});
}

// Of their blocks: A is 1, 3 and 5; B is 2.
TEST_F(EventFilterTest, WhatTheirBlocksAre) {
  EXPECT_EQ(find("freed:never"), Events{2});
  EXPECT_EQ(find("born:1"), (Events{1, 3, 5}));
  EXPECT_EQ(find("alive@3"), (Events{1, 2, 3, 5}));
  EXPECT_EQ(find("alive@end"), Events{2});
  EXPECT_EQ(find("category:unknown"), Events{2});
  EXPECT_EQ(find("category:temporary"), (Events{1, 3, 5}));
  EXPECT_EQ(find("lifetime>30us action:free_completed"), Events{5});
}

TEST_F(EventFilterTest, RowsOfAList) {
  const auto list = filter_events(*device, "action:alloc");
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->row_of(2), 1);
  EXPECT_EQ(list->row_of(0), 0);  // not listed: the next one
  EXPECT_EQ(list->row_of(3), 2);  // none after it
}

}  // namespace
}  // namespace gpustrata::analysis
