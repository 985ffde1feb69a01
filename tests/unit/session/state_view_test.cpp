// Questions about states through the page's own door, on a trace worked out by hand.
#include "engine/session/state_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "engine/answers/details/events.h"
#include "engine/answers/details/memory_after.h"
#include "engine/answers/details/state_info.h"
#include "engine/answers/text/json_of.h"
#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::session {
namespace {

using model::BlockState;
using testing::AllOf;
using testing::HasSubstr;
using trace::Action;

// A segment of 2 MiB. A (1000 bytes in 1024) and B (512) come; A's free is requested by event 3 and completed
// by event 5; then 3 MiB are not to be had.
class StateViewTest : public ::testing::Test {
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
    ASSERT_TRUE(story.stored());
    ASSERT_TRUE(story.lifetimes().has_value());
    story.recording.seal();
    device = *replay::Device::open(story.recording, story.recording.parts[0], 0);
    index.emplace(*analysis::index_device(story.recording, device->part, device->lives));
    view = StateView::open(*device, **device->history(), *index);
  }
  [[nodiscard]] std::string rows(int32_t first, int32_t count) {
    const auto all = analysis::EventList::all(7, story.budget);
    JsonWriter json;
    answers::list_to_json(json, analysis::event_rows(view->context(), all, first, count), view->context());
    return json.text();
  }
  // What was found, as its answer.
  template <typename Found>
  [[nodiscard]] std::string json(const Result<Found>& found) const {
    if (!found) return "error";
    if constexpr (answers::kIsOptional<Found>) {
      return or_null(*found, view->context());
    } else {
      return answers::json_of(view->context(), *found);
    }
  }
  template <typename Found, typename... Around>
  [[nodiscard]] static std::string or_null(const Found& found, const Around&... around) {
    JsonWriter json;
    answers::or_null_to_json(json, found, around...);
    return json.text();
  }
  [[nodiscard]] std::string picked(int32_t event, const replay::StateWindow& window, double x, double y) {
    const auto hit = view->pick(event, window, x, y);
    if (!hit) return "error";
    return or_null(hit->segment < 0 ? nullptr : &*hit, view->context(), view->memory());
  }
  [[nodiscard]] std::string placed(int32_t event, int32_t block, const replay::StateWindow& window) {
    const auto place = view->place(event, block, window);
    return place ? or_null(*place) : "error";
  }
  [[nodiscard]] std::string details(int32_t event) const {
    return or_null(view->event_details(event), view->context());
  }
  [[nodiscard]] std::string totals(int32_t event) {
    const auto found = view->totals(event);
    return found ? answers::json_of(*found) : "error";
  }

  analysis::Story story;
  std::unique_ptr<replay::Device> device;
  std::optional<analysis::DeviceIndex> index;
  std::unique_ptr<StateView> view;
};

TEST_F(StateViewTest, InfoCounts) {
  EXPECT_EQ(answers::json_of(view->info(2)),
            R"({"events":7,"blocks":2,"ranges":1,"peak_event":2,"oom_events":1,"snapshot_events":1,)"
            R"("annotate_events":0,"diagnostics":[]})");
}

TEST_F(StateViewTest, JumpsToEventsOfAKind) {
  const auto found = [&](const char* action, int32_t from, bool backwards) {
    return view->find_event(action, from, backwards).value_or(-2);
  };
  EXPECT_EQ(found("oom", 0, false), 6);
  EXPECT_EQ(found("oom", 6, false), -1);
  EXPECT_EQ(found("alloc", 6, true), 2);
  EXPECT_EQ(found("snapshot", -1, false), 4);
  EXPECT_FALSE(view->find_event("no such action", 0, false).has_value());
}

TEST_F(StateViewTest, DetailsOfAnEventLinkItsBlock) {
  EXPECT_THAT(details(3),
              AllOf(HasSubstr(R"("action":"free_requested","name":"b'7f064c000000_0")"),
                    HasSubstr(R"("alloc_event":1,"free_requested_event":3,"free_completed_event":5)"),
                    HasSubstr(R"("time_us":130)")));
  EXPECT_THAT(details(6), HasSubstr("OOM (requested 3.0 MiB (3,145,728 bytes)"));
  EXPECT_EQ(details(7), "null");
  EXPECT_EQ(details(-1), "null");
}

// As PyTorch's viewer prints it: action, name in a column of 18, size; then the stream.
TEST_F(StateViewTest, TheLineOfAnEvent) {
  EXPECT_THAT(rows(1, 1), HasSubstr(R"("text":"alloc         b'7f064c000000_0   1000 )"));
  EXPECT_THAT(rows(2, 1), HasSubstr("\\n(stream 1)\""));
  EXPECT_THAT(rows(0, 1), HasSubstr(R"("text":"segment_alloc s'7f064c000000_0   2.0 MiB )"));
  EXPECT_THAT(rows(4, 1), HasSubstr(R"("text":"snapshot)"));
}

TEST(StateViewOfPairs, ACompletionRightAfterItsRequestFollowsIt) {
  analysis::Story story;
  story.alloc(kBase, 512).alloc(kBase + 512, 512);
  story.request(kBase, 512).complete(kBase, 512);     // events 2 and 3
  story.request(kBase + 512, 512).alloc(kBase, 512);  // something between
  story.complete(kBase + 512, 512);                   // event 6
  ASSERT_TRUE(story.lifetimes().has_value());
  const auto device = replay::Device::open(story.recording, story.recording.parts[0], 0);
  ASSERT_TRUE(device.has_value());
  const auto index = analysis::index_device(story.recording, (*device)->part, (*device)->lives);
  const auto view = StateView::open(**device, **(*device)->history(), *index);
  const auto rows = [&](int32_t first) {
    const auto all = analysis::EventList::all(7, story.budget);
    return answers::json_of(view->context(), analysis::event_rows(view->context(), all, first, 1).front());
  };
  EXPECT_THAT(rows(3), HasSubstr(R"("follows_request":true)"));
  EXPECT_THAT(rows(6), testing::Not(HasSubstr("follows_request")));
}

TEST_F(StateViewTest, AStateIsTheSameWhereverOneComesFrom) {
  const std::string pending = totals(4), end = totals(6), start = totals(-1);
  EXPECT_EQ(totals(4), pending);  // PyTorch's viewer forgets here that A was pending
  EXPECT_EQ(totals(-1), start);
  EXPECT_EQ(totals(6), end);
}

TEST_F(StateViewTest, FragmentationIsTheShareOfFreeMemoryOutsideTheLargestBlock) {
  // Free in the end: 1024 bytes in front of B, the rest of 2 MiB behind it.
  const double expected = 1.0 - (2097152.0 - 1536) / (2097152.0 - 512);
  const std::string text = totals(6);
  const size_t at = text.find("\"fragmentation\":");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_NEAR(std::stod(text.substr(at + 16)), expected, 1e-9);
  EXPECT_THAT(totals(-1), HasSubstr(R"("fragmentation":null)"));
}

TEST_F(StateViewTest, TotalsAfterEachEvent) {
  EXPECT_THAT(totals(-1), HasSubstr(R"("event":-1,"time_us":null,"reserved":0,"allocated":0,"active":0)"));
  EXPECT_THAT(totals(2), HasSubstr(R"("reserved":2097152,"allocated":1536,"active":1536,"requested":1512,)"
                                   R"("rounding":24,"free":2095616,"largest_free":2095616)"));
  // A waits: active, but not allocated any more.
  EXPECT_THAT(totals(4),
              AllOf(HasSubstr(R"("allocated":512,"active":1536)"), HasSubstr(R"("pending_blocks":1)")));
  EXPECT_THAT(totals(6),
              AllOf(HasSubstr(R"("allocated":512,"active":512)"), HasSubstr(R"("free_blocks":2)")));
  EXPECT_EQ(totals(99), totals(6));  // the nearest there is
}

TEST_F(StateViewTest, BlocksSegmentsAndWhatLiesUnderAPixel) {
  const int32_t a = view->block_of_rank(0), b = view->block_of_rank(1);
  EXPECT_EQ(*view->rank_of_block(a), 0);
  EXPECT_EQ(*view->rank_of_block(b), 1);
  EXPECT_EQ(view->block_of_rank(2), -1);
  EXPECT_THAT(json(view->block(2, a)), HasSubstr(R"("state":"active_allocated")"));
  EXPECT_THAT(json(view->block(4, a)), HasSubstr(R"("state":"active_pending_free")"));
  EXPECT_THAT(json(view->block(5, a)), HasSubstr(R"("state":null)"));
  EXPECT_EQ(view->block(2, 99).error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(json(view->segment(2, 0)), AllOf(HasSubstr(R"("size":2097152,"free":2095616)"),
                                               HasSubstr(R"("blocks":2)"), HasSubstr(R"("begin":0)")));
  EXPECT_EQ(json(view->segment(-1, 0)), "null");  // it is not there yet

  // 2 MiB over 2048 pixels: 1 KiB a pixel. A covers pixel 0, B half of pixel 1.
  const replay::StateWindow window{2048, 100, 1, 0, 0};
  EXPECT_THAT(picked(2, window, 0.5, 50),
              AllOf(HasSubstr(R"("part":"block")"), HasSubstr("b'7f064c000000_0")));
  EXPECT_THAT(picked(4, window, 0.5, 50), HasSubstr(R"("part":"pending")"));
  EXPECT_THAT(picked(4, window, 1000, 50), HasSubstr(R"("part":"gap")"));
  EXPECT_EQ(picked(4, window, 1000, 99), "null");  // below the row, of which 80 % are filled
  EXPECT_EQ(picked(-1, window, 0.5, 50), "null");
  EXPECT_EQ(placed(2, b, window),
            R"({"x":0.0,"y":0.0,"width":2048.0,"height":80.0,"block_x":1.0,"block_width":0.5})");
  EXPECT_EQ(placed(6, a, window), "null");
  EXPECT_GT(view->layout(2, window)->kind.size(), 1U);
}

TEST_F(StateViewTest, TheAddressMapHasARowPerSegment) {
  const auto order = replay::RegionOrder::address;
  EXPECT_THAT(json(view->regions(order, 0, 10)),
              AllOf(HasSubstr(R"("count":1)"), HasSubstr(R"("size":2097152)")));
  EXPECT_EQ(*view->region_of_block(order, view->block_of_rank(1)), 0);
  EXPECT_EQ(view->region_of_block(order, 99).error().code, ErrorCode::wrong_usage);
  const replay::ColumnGrid columns{replay::Axis::event, 0, 1, 7};
  EXPECT_EQ(view->address_map(order, columns, 0, 5, 4)->size(), 7U * 4U);  // there is one row only
  EXPECT_EQ(view->address_map(order, columns, 5, 5, 4)->size(), 0U);
  const auto refused = view->address_map(order, {replay::Axis::event, 0, 1, 1 << 30}, 0, 1, 1 << 10);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
}

TEST(StateViewMemory, TooLittleIsAnError) {
  analysis::Story story;
  for (int i = 0; i < 1000; ++i) story.alloc(kBase + 512 * static_cast<uint64_t>(i), 512);
  ASSERT_TRUE(story.lifetimes().has_value());
  const auto device = replay::Device::open(story.recording, story.recording.parts[0], 0);
  ASSERT_TRUE(device.has_value());
  ASSERT_TRUE(story.budget.take(story.budget.limit() - story.budget.used()));  // all that is left
  const auto refused = (*device)->history();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace gpustrata::session
