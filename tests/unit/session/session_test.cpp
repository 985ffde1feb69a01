#include "engine/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/session/asking.h"

namespace gpustrata::session {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kLook =
    R"({"palette":{"bands":[4289165646],"nothing":0,"dimmedTowards":0,"envelope":0},"colourBy":"allocation","filter":"","kind":-1})";

class SessionTest : public ::testing::Test {
 protected:
  void open(const char* golden_case) {
    const std::string bytes = golden_input(golden_case);
    ASSERT_FALSE(bytes.empty());
    ASSERT_TRUE(read_bytes(session, bytes).has_value());
  }
  [[nodiscard]] ViewId view_of(int32_t device, Bands bands = Bands::blocks) {
    return session.open_view(0, device, bands).value_or(0);
  }
  [[nodiscard]] std::string ask(std::string_view name, ViewId view = 0, std::string_view args = "{}") {
    return asked(session, name, view, args);
  }
  [[nodiscard]] std::string picture(ViewId view, int columns, int rows, double bytes_per_row = 1) {
    return ask("picture", view,
               fmt::format(R"({{"columns":{{"axis":"event","first":0,"width":1,"count":{}}},)"
                           R"("rows":{{"bottom":0,"bytesPerRow":{},"count":{}}},"look":{}}})",
                           columns, bytes_per_row, rows, kLook));
  }

  Session session{int64_t{1} << 28};
};

TEST_F(SessionTest, DiagnosticsAreThoseOfTheSummaryOnceADeviceIsOpen) {
  open("wrapped_ring");
  EXPECT_THAT(ask("contents"), HasSubstr(R"("diagnostics":[])"));  // the reader has nothing to report
  const std::string opened = ask("open", 0, R"({"snapshot":0,"device":0,"bands":"blocks"})");
  const size_t at = opened.find("\"diagnostics\":");
  ASSERT_NE(at, std::string::npos);
  const std::string found = opened.substr(at, opened.size() - at - 2);
  EXPECT_THAT(found, HasSubstr(R"("name":"free_without_alloc")"));
  EXPECT_THAT(ask("summary", 0, R"({"file":"x"})"), HasSubstr(found + "}}"));
}

// Two blocks that nothing frees are not in the final segment.
TEST_F(SessionTest, WhatContradictsTheFinalSegmentsIsToldWhateverTheBands) {
  open("pool_ids");
  for (const std::string_view bands : {"blocks", "pools", "segments"}) {
    EXPECT_THAT(ask("open", 0, fmt::format(R"({{"snapshot":0,"device":0,"bands":"{}"}})", bands)),
                HasSubstr(R"("name":"alloc_without_end","severity":"warning","count":2)"));
  }
  EXPECT_THAT(
      ask("states", view_of(0)),
      AllOf(HasSubstr(R"("diagnostics":[{"name":"state_alloc_not_live","severity":"warning","count":2)"),
            Not(HasSubstr("alloc_without_end"))));
  Session other(int64_t{1} << 28);
  ASSERT_TRUE(read_bytes(other, golden_input("private_pool")).has_value());
  EXPECT_THAT(asked(other, "states", other.open_view(0, 0, Bands::blocks).value_or(0)),
              HasSubstr(R"("diagnostics":[]})"));
}

// 60,001 events: what states need is made in three parts, in whatever order they are asked for.
TEST_F(SessionTest, StatesAreFoundInParts) {
  std::string file = R"({"segments":[],"device_traces":[[)";
  for (int i = 0; i < 60'000; ++i) {
    file += fmt::format(R"({{"action":"{}","addr":{},"size":512,"stream":0,"frames":[]}},)",
                        i % 2 == 0 ? "alloc" : "free_completed", 4096 + i / 2 % 100 * 512);
  }
  file += R"({"action":"alloc","addr":4096,"size":100,"stream":0,"frames":[]}]]})";
  Session other(int64_t{1} << 28);
  ASSERT_TRUE(read_bytes(session, file).has_value());
  ASSERT_TRUE(read_bytes(other, file).has_value());
  (void)ask("contents");  // the first answer takes memory that is kept
  const ViewId view = view_of(0);
  const ViewId unprepared = other.open_view(0, 0, Bands::blocks).value_or(0);
  const int64_t before = session.progress().heap;
  for (const char* part : {"0", "1", "1", "2", "1"})
    EXPECT_EQ(ask("prepare", view, fmt::format(R"({{"part":{}}})", part)), R"({"answer":3})");
  const int64_t halfway = session.progress().heap;
  EXPECT_GT(halfway, before);
  const ViewId second = view_of(0, Bands::pools);
  EXPECT_EQ(ask("prepare", second, R"({"part":3})"), R"({"answer":3})");
  EXPECT_EQ(ask("prepare", view, R"({"part":2147483647})"), R"({"answer":3})");
  for (const char* event : {"-1", "0", "30000", "60000"}) {
    const std::string args = fmt::format(R"({{"event":{}}})", event);
    EXPECT_EQ(ask("totals", view, args), asked(other, "totals", unprepared, args));
  }
  session.release(view);
  session.release(second);
  // What was begun goes with the view.
  const ViewId third = view_of(0);
  EXPECT_EQ(session.progress().heap, before);
  EXPECT_EQ(ask("prepare", third, R"({"part":1})"), R"({"answer":3})");
  EXPECT_GT(session.progress().heap, before);
  session.release(third);
  EXPECT_LT(session.progress().heap, before);
}

TEST_F(SessionTest, TheContentsSayWhichDevicesRanOutOfMemory) {
  open("oom_and_snapshot_events");
  EXPECT_THAT(ask("contents"),
              HasSubstr(R"("segments":0,"oom":{"count":1,"events":[2],"first_time_us":null}})"));  // no times
}

TEST_F(SessionTest, TheContentsSayWhenMemoryFirstRanOut) {
  constexpr std::string_view kTwice =
      R"({"segments":[],"device_traces":[[
{"action":"alloc","addr":4096,"size":512,"stream":0,"time_us":1700000000000000,"frames":[]},
{"action":"oom","size":4096,"stream":0,"device_free":0,"time_us":1700000000250000,"frames":[]},
{"action":"oom","size":8192,"stream":0,"device_free":0,"time_us":1700000000900000,"frames":[]}]]})";
  ASSERT_TRUE(read_bytes(session, kTwice).has_value());
  EXPECT_THAT(ask("contents"),
              HasSubstr(R"("oom":{"count":2,"events":[1,2],"first_time_us":1700000000250000}})"));
}

TEST_F(SessionTest, APictureBeyondAnyScreenIsRefused) {
  open("wrapped_ring");
  const ViewId view = view_of(0);
  EXPECT_THAT(picture(view, 9000, 9000), HasSubstr(R"("code":"limit_exceeded")"));
  EXPECT_THAT(picture(view, 9000, 10), HasSubstr(R"({"name":"pixels","type":"rgba","count":90000})"));
}

TEST_F(SessionTest, LabelsAreTheSameWhateverWasDrawnBefore) {
  open("era3_expandable_and_oom");
  const ViewId view = view_of(0);
  const std::string labels =
      R"({"columns":{"axis":"event","first":0,"width":1,"count":20},"rows":{"bottom":0,"bytesPerRow":220000,"count":100},)"
      R"("leastColumns":1,"leastRows":5})";
  const std::string before = ask("labels", view, labels);
  ASSERT_THAT(before, HasSubstr(R"("rank":0)"));
  ASSERT_THAT(picture(view, 20, 100, 220000), Not(HasSubstr("error")));
  EXPECT_EQ(ask("labels", view, labels), before);
  ASSERT_THAT(picture(view, 10, 10, 1000), Not(HasSubstr("error")));
  EXPECT_EQ(ask("labels", view, labels), before);
}

TEST_F(SessionTest, PinnedHostMemoryIsADevice) {
  open("era8_host_memory_and_annotate");
  EXPECT_THAT(
      ask("contents"),
      HasSubstr(
          R"({"device":-1,"events":3,"segments":2,"oom":{"count":0,"events":[],"first_time_us":null}})"));
  // 4096 bytes by event 1, 512 by event 2; nothing is freed.
  EXPECT_THAT(ask("open", 0, R"({"snapshot":0,"device":-1,"bands":"blocks"})"),
              AllOf(HasSubstr(R"("device":-1,"events":3,"has_history":true,"blocks":2,"from_start":0,)"),
                    HasSubstr(R"("peak":{"bytes":4608,"event":2},"initial_bytes":0,"final_bytes":4608)")));
  const ViewId host = view_of(-1);
  EXPECT_THAT(ask("block", host, R"({"rank":0,"axis":"event"})"), HasSubstr(R"("address":"0x5000")"));
  EXPECT_EQ(ask("highest", host, R"({"columns":{"axis":"event","first":0,"width":1,"count":3}})"),
            R"({"answer":4608})");
  EXPECT_EQ(ask("filterEvents", host, R"({"filter":"action:alloc"})"), R"({"answer":2})");
  EXPECT_THAT(ask("totals", host, R"({"event":1})"), HasSubstr(R"("allocated":4096)"));
  EXPECT_THAT(ask("marks", host), HasSubstr(R"("regions":[])"));
}

TEST_F(SessionTest, TheTellingDeviceIsTheFirstShown) {
  open("several_devices");  // peaks of 10, 1 and 33 bytes on devices 0, 2 and 3
  EXPECT_THAT(ask("contents"), HasSubstr(R"("default":{"snapshot":0,"device":3})"));
}

TEST_F(SessionTest, AFileOpensWithItsContentsAndAViewOfTheTellingDevice) {
  open("several_devices");
  const std::string first = ask("first");
  const std::string contents = ask("contents");
  std::string view = ask("open", 0, R"({"snapshot":0,"device":3,"bands":"blocks"})");
  const auto answer_of = [](const std::string& frame) {
    return frame.substr(std::string_view(R"({"answer":)").size(), frame.size() - 11);
  };
  const auto id = view.find(R"("id":2)");
  ASSERT_NE(id, std::string::npos);
  view[id + 5] = '1';
  EXPECT_EQ(answer_of(first),
            fmt::format(R"({{"contents":{},"view":{}}})", answer_of(contents), answer_of(view)));
  EXPECT_THAT(ask("highest", 1, R"({"columns":{"axis":"event","first":0,"width":1,"count":3}})"),
              Not(HasSubstr("error")));
}

TEST_F(SessionTest, AFileWithoutADeviceOpensWithoutAView) {
  open("nothing_recorded");
  EXPECT_THAT(ask("first"), HasSubstr(R"("default":null)"));
  EXPECT_THAT(ask("first"), EndsWith(R"("view":null}})"));
}

// One private pool of 8192 bytes with a block of 500, and a default block of 800 on top of it.
TEST_F(SessionTest, PoolsAreEnvelopesAndBlocksKeepTheirRanks) {
  open("private_pool");
  EXPECT_THAT(ask("open", 0, R"({"snapshot":0,"device":0,"bands":"blocks"})"),
              HasSubstr(R"("peak":{"bytes":1300,"event":3})"));
  EXPECT_THAT(ask("open", 0, R"({"snapshot":0,"device":0,"bands":"pools"})"),
              AllOf(HasSubstr(R"("peak":{"bytes":8992,"event":3})"),
                    HasSubstr(R"("blocks":2,"from_start":0,"pools":1)")));
  const ViewId pools = view_of(0, Bands::pools);
  const auto probe = [&](int event, int bytes) {
    return ask(
        "probe", pools,
        fmt::format(R"({{"axis":"event","column":{},"width":1,"bytes":{},"known":-1}})", event, bytes));
  };
  EXPECT_THAT(probe(2, 499), HasSubstr(R"("rank":0)"));
  EXPECT_THAT(probe(2, 500),
              HasSubstr(R"json("rank":2,"name":"Private Pool (0,1,s0)","size":8192,"active":500)json"));
  EXPECT_THAT(probe(3, 8192), HasSubstr(R"("rank":1)"));
  EXPECT_THAT(probe(5, 8191), HasSubstr(R"("level":8992,"allocated":800)"));
  EXPECT_THAT(ask("block", pools, R"({"rank":1,"axis":"event"})"),
              HasSubstr(R"("place":{"from":3,"to":6,"offset":8192,"size":800})"));
  EXPECT_THAT(ask("block", pools, R"({"rank":2,"axis":"event"})"),
              AllOf(HasSubstr(R"("kind":"envelope")"),
                    HasSubstr(R"("capacity":8192,"reserved_final":8192,"active_final":0,"peak_active":500,)"
                              R"("blocks":1)")));
  EXPECT_THAT(ask("block", pools, R"({"rank":3,"axis":"event"})"),
              HasSubstr("`rank` must be from 0 to 2; 3 is not"));
  View& view = *session.view(pools);
  const auto edges = *view.outline(2, {}, {replay::Axis::event, 1, 1, 3});
  EXPECT_EQ(edges.lower, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(edges.upper, (std::vector<double>{8192, 8192, 8192}));
  EXPECT_EQ(view.outline(0, {}, {replay::Axis::event, 2, 1, 1})->upper, (std::vector<double>{500}));
  // Filters and colours mean blocks; the rest is told apart.
  EXPECT_THAT(ask("filter", pools, R"({"text":"pool:0,1"})"),
              HasSubstr(R"("count":1,"bytes":500,"at_peak":500)"));
  EXPECT_THAT(ask("shares", pools, R"({"by":"pool","event":3,"filter":""})"), HasSubstr(R"("unused":7692)"));
  EXPECT_THAT(ask("labels", pools,
                  R"({"columns":{"axis":"event","first":0,"width":1,"count":6},)"
                  R"("rows":{"bottom":0,"bytesPerRow":100,"count":90},"leastColumns":2,"leastRows":10})"),
              HasSubstr(R"json("rank":2,"size":8192,"name":"Private Pool (0,1,s0)")json"));
}

// The same file, of which only the block of 500 bytes is shown, from event 2 on.
TEST_F(SessionTest, AFilterChoosesWhatIsStackedFromZero) {
  open("private_pool");
  const auto opened = [&](std::string_view bands, std::string_view only) {
    return ask("open", 0,
               fmt::format(R"({{"snapshot":0,"device":0,"bands":"{}","only":"{}"}})", bands, only));
  };
  const std::string answer = opened("blocks", "pool:0,1 alive@peak");
  EXPECT_THAT(answer, AllOf(HasSubstr(R"("blocks":1,"from_start":0)"), HasSubstr(R"("peak":{"bytes":500,)")));
  const ViewId only = session.open_view(0, 0, Bands::blocks, "pool:0,1 alive@peak").value_or(0);
  ASSERT_NE(only, 0);
  EXPECT_EQ(session.view(only)->rank_count(), 2);
  const auto probe = [&](int bytes) {
    return ask("probe", only,
               fmt::format(R"({{"axis":"event","column":3,"width":1,"bytes":{},"known":-1}})", bytes));
  };
  EXPECT_THAT(probe(499), AllOf(HasSubstr(R"("level":500)"), HasSubstr(R"("rank":0)")));
  EXPECT_THAT(probe(500), HasSubstr(R"("rank":-1)"));
  // The same text means what it did; another one means blocks that are not there.
  EXPECT_THAT(ask("filter", only, R"({"text":"pool:0,1 alive@peak"})"),
              HasSubstr(R"("count":1,"bytes":500,"at_peak":500)"));
  EXPECT_THAT(ask("filter", only, R"({"text":"size:800"})"),
              HasSubstr(R"("count":1,"bytes":800,"at_peak":0)"));
  EXPECT_THAT(ask("kinds", only, R"({"by":"pool"})"), Not(HasSubstr(R"("blocks":0)")));
  EXPECT_THAT(ask("shares", only, R"({"by":"age","event":3,"filter":""})"), HasSubstr(R"("level":500)"));
  EXPECT_THAT(ask("block", only, R"({"rank":1,"axis":"event"})"), HasSubstr(R"("requested_size":800)"));
  EXPECT_THAT(opened("blocks", "é size>x"), HasSubstr(R"("error")"));
  EXPECT_THAT(opened("pools", "size:800"), HasSubstr("private pools"));
  EXPECT_THAT(opened("blocks", "size>1GiB"), HasSubstr(R"("peak":{"bytes":0,"event":-1})"));
  EXPECT_THAT(opened("blocks", "  "), HasSubstr(R"("peak":{"bytes":1300,)"));
}

// The same file: below 800 bytes of the default pool, then 500 of the private one, then what that keeps unused.
TEST_F(SessionTest, GroupsAreStackedInTheOrderOfTheirKinds) {
  open("private_pool");
  const ViewId pools = view_of(0, Bands::pools);
  const auto probe = [&](int bytes, std::string_view filter) {
    return ask(
        "probe", pools,
        fmt::format(
            R"({{"axis":"event","column":3,"width":1,"bytes":{},"known":-1,"by":"pool","filter":"{}"}})",
            bytes, filter));
  };
  EXPECT_THAT(probe(799, ""),
              AllOf(HasSubstr(R"("rank":1,)"), HasSubstr(R"("group":{"kind":0,"bytes":800,"blocks":1}})")));
  EXPECT_THAT(probe(800, ""),
              AllOf(HasSubstr(R"("rank":0,)"), HasSubstr(R"("group":{"kind":1,"bytes":500,"blocks":1}})")));
  EXPECT_THAT(probe(1300, ""),
              AllOf(HasSubstr(R"("rank":2,)"), HasSubstr(R"("group":{"kind":2,"bytes":7692,"blocks":0}})")));
  EXPECT_THAT(probe(8992, ""), Not(HasSubstr("group")));
  EXPECT_THAT(probe(799, "pool:0,1"), HasSubstr(R"("matched":{"bytes":0,"blocks":0}})"));
  EXPECT_THAT(probe(1299, "pool:0,1"), HasSubstr(R"("matched":{"bytes":500,"blocks":1}})"));
  EXPECT_THAT(probe(1, "pool:x"), HasSubstr(R"("error")"));

  View& view = *session.view(pools);
  constexpr replay::ColumnGrid kEvent3{replay::Axis::event, 3, 1, 1};
  const auto edges_of = [&](int32_t kind) {
    const auto edges = view.group_outline(analysis::GroupBy::pool, kind, kEvent3);
    return edges ? std::pair(edges->lower, edges->upper)
                 : std::pair<std::vector<double>, std::vector<double>>();
  };
  EXPECT_EQ(edges_of(1), std::pair(std::vector<double>{800}, std::vector<double>{1300}));
  EXPECT_TRUE(std::isnan(edges_of(INT32_MAX).first.at(0)));
  // The block of the private pool, and its envelope.
  const auto outlined = [&](int32_t rank) {
    const auto edges = view.outline(rank, analysis::GroupBy::pool, kEvent3);
    return edges ? std::pair(edges->lower, edges->upper)
                 : std::pair<std::vector<double>, std::vector<double>>();
  };
  EXPECT_EQ(outlined(0), edges_of(1));
  EXPECT_EQ(outlined(2), std::pair(std::vector<double>{1300}, std::vector<double>{8992}));
  EXPECT_EQ(view.place(0, replay::Axis::event, analysis::GroupBy::pool)->size, 500);

  // Rows of 1000 bytes, their centres at 500, 1500, ... 8500, 9500. Rank 1 has the middle one of the seven shades.
  const std::vector<uint32_t> colours = {0xFF000001, 0xFF000002};
  Look look{colours, 7, 0xFF000000, 0xFF000003, analysis::GroupBy::pool, {}, -1};
  std::vector<uint32_t> rgba(10);
  ASSERT_TRUE(view.draw(kEvent3, {0, 1000, 10}, look, analysis::GroupBy::pool, rgba).has_value());
  const uint32_t unused = 0xFF000003;
  EXPECT_EQ(rgba[0], 7U);
  EXPECT_EQ(std::count(rgba.begin() + 2, rgba.begin() + 9, unused), 7);
  const auto labels = view.labels(kEvent3, {0, 100, 90}, analysis::GroupBy::pool, 1, 4);
  ASSERT_TRUE(labels.has_value());
  ASSERT_EQ(labels->size(), 3U);
  EXPECT_EQ(labels->at(0).rank, 1);
  EXPECT_EQ(labels->at(1).rank, 0);
  EXPECT_EQ(labels->at(1).y0, 800);
  EXPECT_EQ(labels->at(1).y1, 1300);
  EXPECT_EQ(labels->at(2).rank, -1);
  EXPECT_EQ(labels->at(2).kind, 2);

  EXPECT_THAT(ask("groupOutline", pools,
                  R"({"by":"allocation","kind":0,"columns":{"axis":"event","first":0,"width":1,"count":1}})"),
              HasSubstr("there are no groups"));
}

// The state after event 3: a segment of 8192 bytes with a block of 500 in 512, and one of 2 MiB with 800 in 1024.
// Colours by size; the filter means the second block.
TEST_F(SessionTest, TheStateHasTheColoursOfTheTimeline) {
  open("private_pool");
  const ViewId view = view_of(0);
  Look look;
  look.bands = {0xFF0000FF, 0xFF00FF00, 0xFFFF0000};
  look.dimmed_towards = 0xFFFFFFFF;
  look.colour_by = analysis::GroupBy::allocation;
  View& shown = *session.view(view);
  const replay::StateWindow wide{4096, 100, 1, 0, 0};  // 512 bytes a pixel
  const auto colour_of_rank = [&](double bytes) {
    uint32_t pixel = 0;
    EXPECT_TRUE(shown.draw({replay::Axis::event, 3, 1, 1}, {bytes, 1, 1}, look, {}, {&pixel, 1}).has_value());
    return pixel;
  };
  auto rects = shown.draw_state(3, wide, look);
  ASSERT_TRUE(rects.has_value());
  const auto ranks = (*shown.device().states())->ranks_of(*rects);
  const auto at = [&](int32_t rank) {
    return static_cast<size_t>(std::find(ranks->begin(), ranks->end(), rank) - ranks->begin());
  };
  ASSERT_EQ(rects->colour.size(), rects->kind.size());
  ASSERT_EQ(rects->matched.size(), rects->kind.size());
  ASSERT_LT(at(1), ranks->size());
  EXPECT_EQ(rects->colour[at(1)], colour_of_rank(900));  // 800 bytes: 1.6 pixels of their own
  EXPECT_EQ(rects->colour[0], 0U);                       // a segment
  EXPECT_THAT(rects->matched, testing::Each(1));
  look.filter = "size>600";
  rects = shown.draw_state(3, wide, look);
  ASSERT_TRUE(rects.has_value());
  EXPECT_EQ(rects->matched[at(1)], 1);
  EXPECT_THAT(rects->matched, testing::Contains(0));  // the other block, though narrower than a pixel
  const std::string args = fmt::format(
      R"({{"event":3,"window":{{"width":100,"height":50,"zoom":1,"left":0,"top":0}},"look":{}}})", kLook);
  EXPECT_THAT(ask("layout", view, args), AllOf(HasSubstr(R"({"name":"rects.colour","type":"rgba")"),
                                               HasSubstr(R"("name":"rects.matched")")));
}

TEST_F(SessionTest, FiltersOfSegmentsLookAtSegments) {
  open("private_pool");
  const ViewId segments = view_of(0, Bands::segments);
  const auto count = [&](std::string_view text) {
    const auto found = session.view(segments)->filtered(text);
    return found && *found ? static_cast<int>((*found)->matches.ranks.size()) : -1;
  };
  EXPECT_EQ(count("size>8000"), 2);
  EXPECT_EQ(count("size>9000"), 1);
  EXPECT_EQ(count("pool:0,1"), 1);
  EXPECT_EQ(count("stack:capture"), 1);
  EXPECT_EQ(count("s'7f0000000000"), 1);
  EXPECT_EQ(count("b'7f0000000000"), 0);
  EXPECT_THAT(ask("kinds", segments, R"({"by":"pool"})"), HasSubstr(R"("by":"pool")"));
}

TEST_F(SessionTest, BeforeAFileIsReadEveryQuestionIsRefusedInWords) {
  EXPECT_EQ(ask("contents"),
            R"({"error":{"code":"wrong_usage","message":"contents: no file has been read","offset":-1}})");
  EXPECT_FALSE(session.open_view(0, 0, Bands::blocks).has_value());
}

TEST_F(SessionTest, MoreThanThereWasRoomForIsNoInput) {
  const size_t room = session.writable().size();
  const auto refused = session.commit(room + 1);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::wrong_usage);
}

TEST_F(SessionTest, AReleasedViewIsNeverAnotherOne) {
  open("private_pool");
  const ViewId first = view_of(0);
  EXPECT_EQ(ask("release", first), R"({"answer":null})");
  EXPECT_THAT(ask("states", first), HasSubstr("there is no such view; it may have been released"));
  EXPECT_THAT(ask("release", first), HasSubstr("wrong_usage"));
  EXPECT_GT(view_of(0), first);
}

TEST_F(SessionTest, ViewsAreLimitedAndGiveTheirMemoryBack) {
  open("private_pool");
  (void)ask("contents");
  const int64_t before = session.progress().heap;
  std::vector<ViewId> views;
  for (size_t i = 0; i < Session::kMostViews; ++i) views.push_back(view_of(0, static_cast<Bands>(i % 3)));
  EXPECT_THAT(ask("open", 0, R"({"snapshot":0,"device":0,"bands":"blocks"})"), HasSubstr("views are open"));
  for (const ViewId view : views) {
    EXPECT_THAT(ask("kinds", view, R"({"by":"stack"})"), Not(HasSubstr("error")));
    session.release(view);
  }
  EXPECT_EQ(session.progress().heap, before);
}

TEST_F(SessionTest, EveryClientOfAFileHasViewsOfItsOwn) {
  open("private_pool");
  Session other(session);
  const ViewId mine = view_of(0);
  for (size_t i = 0; i < Session::kMostViews; ++i)
    ASSERT_TRUE(other.open_view(0, 0, Bands::blocks).has_value()) << i;
  EXPECT_FALSE(other.open_view(0, 0, Bands::blocks).has_value());
  EXPECT_GT(view_of(0), mine);
  // Alike ones are one underneath, and stay when one of those who opened them releases it.
  EXPECT_EQ(other.view(1), session.view(mine));
  for (ViewId view = 1; view <= static_cast<ViewId>(Session::kMostViews); ++view) other.release(view);
  EXPECT_THAT(ask("states", mine), Not(HasSubstr("error")));
  EXPECT_EQ(other.view(1), nullptr);
}

// What a filter means is kept for each such view, in memory that all clients of the file share.
TEST_F(SessionTest, AClientAmongOthersHasFewViewsOfOneFilter) {
  open("private_pool");
  Session other(session);
  const auto open_one = [&](size_t i) {
    return other.open_view(0, 0, Bands::blocks, fmt::format("size>={}", i));
  };
  for (size_t i = 0; i < Session::kMostFilteredViews; ++i) ASSERT_TRUE(open_one(i).has_value()) << i;
  EXPECT_EQ(open_one(99).error().code, ErrorCode::wrong_usage);
  EXPECT_TRUE(other.open_view(0, 0, Bands::blocks).has_value());
  other.release(1);
  EXPECT_TRUE(open_one(99).has_value());
}

TEST_F(SessionTest, ViewsOfAClientGoWithIt) {
  open("private_pool");
  (void)ask("contents");
  const int64_t before = session.progress().heap;
  {
    Session other(session);
    ASSERT_TRUE(other.open_view(0, 0, Bands::pools).has_value());
    EXPECT_GT(session.progress().heap, before);
  }
  EXPECT_EQ(session.progress().heap, before);
}

TEST_F(SessionTest, UnknownDevicesAreRefused) {
  open("private_pool");
  EXPECT_THAT(ask("open", 0, R"({"snapshot":1,"device":0,"bands":"blocks"})"),
              HasSubstr("there is no snapshot 1"));
  EXPECT_THAT(ask("open", 0, R"({"snapshot":0,"device":7,"bands":"blocks"})"),
              HasSubstr("there is no device 7"));
  EXPECT_THAT(ask("open", 0, R"({"snapshot":0,"device":-1,"bands":"blocks"})"),
              HasSubstr("there is no device -1"));
}

}  // namespace
}  // namespace gpustrata::session
