// Answers to the letter, on the run of training_run.h: every member has its number.
#include <gmock/gmock.h>

#include "tests/unit/session/training_run.h"

namespace gpustrata::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class WholeAnswers : public TrainingRun {
 protected:
  [[nodiscard]] ViewId segments() { return session.open_view(0, 0, Bands::segments).value_or(0); }
};

constexpr std::string_view kAllColumns = R"("columns":{"axis":"event","first":0,"width":1,"count":8})";

TEST_F(WholeAnswers, ContentsAndSummary) {
  EXPECT_THAT(
      asked(session, "contents"),
      HasSubstr(
          R"("snapshots":[{"name":"","devices":[{"device":0,"events":8,"segments":2,)"
          R"("oom":{"count":0,"events":[],"first_time_us":null}}],"default":0}],"default":{"snapshot":0,"device":0},)"
          R"("series":0,"fleets":0,"is_trace":false,"damaged":false,"diagnostics":[]}})"));
  // In use are 1024, 512 and 2048 bytes, requested 600, 512 and 2048.
  EXPECT_THAT(
      asked(session, "summary", 0, R"({"file":"x"})"),
      AllOf(
          HasSubstr(fmt::format(R"("file":"x","format":"json","bytes":{},)", kTrainingRun.size())),
          HasSubstr(
              R"({"device":0,"events":8,"actions":{"segment_alloc":2,"alloc":4,"free_requested":1,"free_completed":1},)"
              R"("segments":2,"blocks":5,"reserved_bytes":12288,"allocated_bytes":3584,"active_bytes":3584,)"
              R"("initial_requested_bytes":0,"final_requested_bytes":3160,"peak":{"requested_bytes":3560,"event":4},)"),
          HasSubstr(
              R"("first_time_us":100,"last_time_us":170}],"host":null,"settings":{},"annotations":4}],)")));
}

TEST(HalfAnswers, AFileThatEndsEarlyIsDamagedAndOneThatWasRepairedIsNot) {
  const std::string_view whole = kTrainingRun;
  Session half(int64_t{1} << 28);
  ASSERT_TRUE(read_bytes(half, whole.substr(0, whole.size() - 1)).has_value());
  EXPECT_THAT(asked(half, "contents"), HasSubstr(R"("damaged":true)"));
  // An event without its address is left out; the others are there.
  std::string repaired(whole);
  const size_t at = repaired.find(R"("addr":)");
  ASSERT_NE(at, std::string::npos);
  repaired.replace(at + 1, 4, "else");
  Session other(int64_t{1} << 28);
  ASSERT_TRUE(read_bytes(other, repaired).has_value());
  EXPECT_THAT(asked(other, "contents"),
              AllOf(HasSubstr(R"("damaged":false)"), HasSubstr(R"("name":"event_incomplete")")));
}

TEST_F(WholeAnswers, AnOpenedView) {
  EXPECT_THAT(
      asked(session, "open", 0, R"({"snapshot":0,"device":0,"bands":"blocks"})"),
      HasSubstr(
          R"("info":{"bands":"blocks","device":0,"events":8,"has_history":true,"blocks":4,"from_start":0,)"
          R"("peak":{"bytes":3560,"event":4},"initial_bytes":0,"final_bytes":3160,"reserved_peak":12288,)"
          R"("reserved_final":12288,"extent":{"event":8,"time_us":71},"first_time_us":100,"last_time_us":170,)"
          R"("oom_events":[],"capacity":null,"has_stacks":true,"segments":2,"is_processor":false,"has_ops":false,)"
          R"("has_series":false,)"
          R"("settings":null},"diagnostics":[]}})"));
  EXPECT_THAT(asked(session, "open", 0, R"({"snapshot":0,"device":0,"bands":"segments"})"),
              HasSubstr(R"("blocks":2,"from_start":0,"peak":{"bytes":12288,"event":3},"initial_bytes":0,)"
                        R"("final_bytes":12288,)"));
}

TEST_F(WholeAnswers, ABlockThatCameAndWent) {
  EXPECT_EQ(
      ask("block", R"({"rank":0,"axis":"event"})"),
      R"json({"answer":{"details":{"rank":0,"name":"b'10000_0","address":"0x10000","version":0,"kind":"traced",)json"
      R"json("requested_size":1000,"block_size":null,"state":null,"stream":0,"stream_handle":"0","pool":null,"pool_from":null,)json"
      R"json("born_event":1,"free_requested_event":5,"freed_event":6,"born_time_us":110,"freed_time_us":160,"lifetime_events":5,)json"
      R"json("lifetime_us":50,"total_after":1000,"compile_context":null,"user_metadata":null,"annotations":[],"extras":{},)json"
      R"json("frames":[{"text":"model.py:10:attend","name":"attend","file":"model.py","line":10,"repeats":1,"hidden":false,)json"
      R"json("own":true,"fx":[]},{"text":"train.py:5:step","name":"step","file":"train.py","line":5,"repeats":1,"hidden":false,)json"
      R"json("own":true,"fx":[]}],"stack_of":"alloc","who":"attend model.py:10","forward_frames":null,"no_stack_reasons":[],)json"
      R"json("annotations_left_out":0,"extras_left_out":0,"frames_left_out":0},"place":{"from":1,"to":6,"offset":0,"size":1000}}})json");
}

TEST_F(WholeAnswers, ABlockThatStays) {
  // D lies on B and C, 2560 bytes, and in a block of 1024.
  EXPECT_THAT(
      ask("block", R"({"rank":3,"axis":"time"})"),
      AllOf(
          HasSubstr(
              R"("rank":3,"name":"b'10000_1","address":"0x10000","version":1,"kind":"traced","requested_size":600,)"
              R"("block_size":1024,"state":"active_allocated",)"),
          HasSubstr(R"("born_event":7,"free_requested_event":null,"freed_event":null,"born_time_us":170,)"
                    R"("freed_time_us":null,"lifetime_events":1,"lifetime_us":null,"total_after":3160,)"),
          HasSubstr(R"("place":{"from":70,"to":71,"offset":2560,"size":600}})")));
}

TEST_F(WholeAnswers, ASegmentAsABand) {
  EXPECT_EQ(
      asked(session, "block", segments(), R"({"rank":1,"axis":"time"})"),
      R"json({"answer":{"details":{"kind":"segment","rank":1,"piece":8192,"row":1,"name":"s'40000_0","address":"0x40000",)json"
      R"json("size":8192,"free":8192,"rounding":0,"allocated":0,"active":0,"requested":0,"blocks":0,"free_blocks":1,)json"
      R"json("expandable":false,"stream":1,"stream_handle":"0x7","pool":null,"begin":3,"end":-1,)json"
      R"json("begin_action":"segment_alloc","end_action":null,"frames":[],"who":null,"in_dump":true,"frames_left_out":0},)json"
      R"json("place":{"from":30,"to":71,"offset":4096,"size":8192}}})json");
}

TEST_F(WholeAnswers, KindsOfBlocks) {
  const auto kinds = [&](std::string_view by) { return ask("kinds", fmt::format(R"({{"by":"{}"}})", by)); };
  EXPECT_THAT(kinds("size"), HasSubstr(R"("ordered":true,"inferred":false,"by_lifetime":false,"kinds":[)"
                                       R"({"label":"up to 1 KiB","blocks":3,"merged":0,"says":""},)"
                                       R"({"label":"1 to 32 KiB","blocks":1,)"));
  EXPECT_EQ(
      kinds("stream"),
      R"json({"answer":{"by":"stream","ordered":false,"inferred":false,"by_lifetime":false,"kinds":[)json"
      R"json({"label":"stream 1","blocks":1,"merged":0,"says":""},)json"
      R"json({"label":"default stream (0)","blocks":3,"merged":0,"says":""}]}})json");
  // A lives 50 microseconds.
  EXPECT_THAT(kinds("lifetime"), AllOf(HasSubstr(R"({"label":"below 100 µs","blocks":1,)"),
                                       HasSubstr(R"({"label":"never freed","blocks":3,)"),
                                       HasSubstr(R"({"label":"from before the first event","blocks":0,)")));
  EXPECT_THAT(kinds("age"), HasSubstr(R"({"label":"since event 0","blocks":0,"merged":0,"says":""},)"
                                      R"({"label":"since event 1","blocks":1,"merged":0,"says":""},)"));
}

TEST_F(WholeAnswers, SharesAndFilters) {
  EXPECT_EQ(
      ask("shares", R"({"by":"stream","event":4,"filter":"size:512"})"),
      R"({"answer":{"event":4,"level":3560,"kinds":[{"bytes":2048,"blocks":1},{"bytes":1512,"blocks":2}],)"
      R"("matched":{"bytes":512,"blocks":1}}})");
  EXPECT_THAT(ask("shares", R"({"by":"lifetime","event":8,"filter":""})"),
              HasSubstr(R"({"bytes":3160,"blocks":3},{"bytes":0,"blocks":0}],"matched":null}})"));
  // A, C and D; the peak has A and C.
  EXPECT_EQ(ask("filter", R"({"text":"size>=600"})"),
            R"({"answer":{"count":3,"bytes":3648,"at_peak":3048,"first":0}})");
  EXPECT_EQ(ask("filter", R"({"text":"stack:mlp"})"),
            R"({"answer":{"count":2,"bytes":2560,"at_peak":2560,"first":1}})");
  EXPECT_EQ(ask("filter", R"({"text":"size:7"})"),
            R"({"answer":{"count":0,"bytes":0,"at_peak":0,"first":-1}})");
}

TEST_F(WholeAnswers, TheStackByGroupUnderAPoint) {
  // B and D on the 2048 bytes of stream 7.
  EXPECT_EQ(
      ask("probe",
          R"({"axis":"event","column":7,"width":1,"bytes":2100,"known":1,"by":"stream","filter":"size:512"})"),
      R"({"answer":{"pick":{"event":7,"time_us":170,"level":3160,"allocated":3160,"reserved":12288,"rank":1,)"
      R"("name":"b'10400_0","size":512},)"
      R"("group":{"kind":1,"bytes":1112,"blocks":2,"matched":{"bytes":512,"blocks":1}}}})");
}

TEST_F(WholeAnswers, RegionsAndWhatTheyAllocated) {
  EXPECT_EQ(
      ask("marks", "{}"),
      R"json({"answer":{"regions":[{"name":"ProfilerStep#0","from_event":1,"to_event":3,"from_us":105,"to_us":125,"depth":0,)json"
      R"json("cut_start":false,"cut_end":false,"allocated_bytes":1512,"allocations":2},{"name":"ProfilerStep#1",)json"
      R"json("from_event":3,"to_event":8,"from_us":126,"to_us":180,"depth":0,"cut_start":false,"cut_end":false,)json"
      R"json("allocated_bytes":2648,"allocations":2}],"regions_left_out":0,"markers":[],"markers_left_out":0}})json");
}

TEST_F(WholeAnswers, LabelsLieInTheirBandsInEveryColumn) {
  // Rows of 100 bytes with what is at their middle. C sinks from 1512 to 512, D has one column, too few for words.
  EXPECT_EQ(
      ask("labels",
          fmt::format(
              R"({{{},"rows":{{"bottom":0,"bytesPerRow":100,"count":40}},"leastColumns":1,"leastRows":1}})",
              kAllColumns)),
      R"json({"answer":[{"rank":0,"size":1000,"function":"attend","place":"model.py:10","x0":1.0,"x1":6.0,"y0":0.0,"y1":1000.0},)json"
      R"json({"rank":1,"size":512,"function":"mlp","place":"model.py:20","x0":2.0,"x1":6.0,"y0":1000.0,"y1":1500.0},)json"
      R"json({"rank":2,"size":2048,"function":"mlp","place":"model.py:20","x0":4.0,"x1":8.0,"y0":1500.0,"y1":2600.0},)json"
      R"json({"rank":3,"size":600,"function":"","place":"","x0":7.0,"x1":8.0,"y0":2600.0,"y1":3200.0}]})json");
}

TEST_F(WholeAnswers, TotalsWhileABlockWaitsAndInTheEnd) {
  // Free are 12288 less 3584 bytes, of which 6144 in one piece: 2560 of 8704 are elsewhere, 29.4 %.
  EXPECT_EQ(
      ask("totals", R"({"event":5})"),
      R"({"answer":{"event":5,"time_us":150,"reserved":12288,"allocated":2560,"active":3584,"requested":3560,)"
      R"("rounding":24,"free":8704,"largest_free":6144,"free_blocks":2,"live_blocks":3,"pending_blocks":1,"segments":2,)"
      R"("blocks_without_segment":0,"fragmentation":0.2941176470588235,"text":"8.5 KiB free in 2 blocks, the largest )"
      R"(6.0 KiB: 29.4 % of the free memory is not in the largest block."}})");
  EXPECT_THAT(
      ask("totals", R"({"event":8})"),
      HasSubstr(R"("event":7,"time_us":170,"reserved":12288,"allocated":3584,"active":3584,"requested":3160,)"
                R"("rounding":424,)"));
  EXPECT_EQ(ask("states", "{}"),
            R"({"answer":{"events":8,"blocks":4,"ranges":2,"peak_event":4,"oom_events":0,)"
            R"("snapshot_events":0,"annotate_events":0,"diagnostics":[]}})");
}

TEST_F(WholeAnswers, EventsThatAFilterMeans) {
  const auto count = [&](std::string_view filter) {
    return ask("filterEvents", fmt::format(R"({{"filter":"{}"}})", filter));
  };
  EXPECT_EQ(count("size:1000..2048"), R"({"answer":4})");  // A three times, C
  EXPECT_EQ(count("size:1001..2047"), R"({"answer":0})");
  EXPECT_EQ(count("stream:1"), R"({"answer":2})");
  EXPECT_EQ(count("address:b'10000_1"), R"({"answer":1})");
  EXPECT_EQ(count("stack:model.py:2"), R"({"answer":2})");
  EXPECT_EQ(ask("findEvent", R"({"kind":"alloc","from":4,"backwards":true})"), R"({"answer":2})");
  EXPECT_EQ(ask("findEvent", R"({"kind":"alloc","from":4,"backwards":false})"), R"({"answer":7})");
  EXPECT_EQ(ask("findEvent", R"({"kind":"alloc","from":7,"backwards":false})"), R"({"answer":-1})");
}

TEST_F(WholeAnswers, PinsAndPlacesOfFreeMemory) {
  const std::string found = ask("fragmentation", R"({"event":7})");
  EXPECT_THAT(
      found,
      HasSubstr(
          "8.5 KiB of 12.0 KiB reserved are cached, the largest free piece is 6.0 KiB. 8.5 KiB in 2 segments could"));
  EXPECT_THAT(
      found,
      HasSubstr(
          R"("pins":[{"segment":"0x40000","segment_bytes":8192,"free_bytes":6144,"held_back_bytes":6144,)"
          R"("blocks":1,"pinned_bytes":2048,"expandable":false,"who":"mlp model.py:20",)"
          R"("stack":["model.py:20:mlp","train.py:5:step"],"since_event":4,"row":1,"rank":2},)"
          R"({"segment":"0x10000","segment_bytes":4096,"free_bytes":2560,"held_back_bytes":2560,)"
          R"("blocks":2,"pinned_bytes":1536,"expandable":false,"who":"attend model.py:11",)"
          R"("stack":["model.py:11:attend","train.py:5:step"],"since_event":2,"row":0,"rank":3}])"));
  EXPECT_THAT(found,
              HasSubstr(R"("reserved_bytes":8192,"segments":1,"empty_segments_bytes":0,"cached_bytes":6144,)"
                        R"("largest_free_bytes":6144,"blocks":1})"));
}

TEST_F(WholeAnswers, TheReport) {
  const std::string report = ask("report", "{}");
  for (
      const char* part :
      {R"({"kind":"peak","title":"Peak","value":"3.5 KiB","bytes":3560,"bad":false,)",
       R"("text":"Reached after event 4 of 8, in 3 blocks.")",
       R"({"who":"mlp model.py:20","bytes":2560,"blocks":2,"share":0.7191011235955056,"event":4,"rank":2,)",
       R"({"who":"attend model.py:10","bytes":1000,"blocks":1,"share":0.2808988764044944,"event":4,"rank":0,)",
       R"({"kind":"reserved","title":"Peak reserved","value":"12.0 KiB","bytes":12288,"bad":false,)",
       "After event 4: 3.5 KiB requested, 24 B rounding, 8.5 KiB cached (71 %).",
       "3.1 KiB is allocated at the end, 3.1 KiB more than at the start.",
       "2 steps (marked by the profiler), too few to find leaks.", "It spans 70 us.",
       R"("steps":{"count":2,"from":"annotations","name":"ProfilerStep#0","sure":1.0,"why_not":null},"leaks":[],"leaks_left_out":0,)",
       R"("cache_flushes":{"retries":0,"retry_bytes":0,"failed":0,"failed_bytes":0,)",
       R"("flushes":0,"flush_bytes":0,"unclear":0,"unclear_bytes":0},)",
       R"("reserved_peak":{"event":4,"reserved_bytes":12288,"requested_bytes":3560,"rounding_bytes":24,"pending_bytes":0,)"
       R"("cached_bytes":8704},"oom":[],"oom_left_out":0,)",
       R"("categories":[{"name":"unknown","bytes_at_peak":2560,"blocks":2,"sure":0.0},)"
       R"({"name":"temporary","bytes_at_peak":1000,"blocks":1,"sure":0.5}])"}) {
    EXPECT_THAT(report, HasSubstr(part));
  }
  // Nothing failed, and what lies in pieces is small.
  EXPECT_THAT(report, testing::Not(HasSubstr(R"("kind":"fragmentation")")));
}

TEST_F(WholeAnswers, FactsOfAMomentStackByStack) {
  const std::string facts = ask("facts", R"({"event":4})");
  EXPECT_THAT(
      facts,
      AllOf(
          HasSubstr(R"({"answer":{"bytes":3560,"blocks":3,"keys":[)"),
          HasSubstr(R"("sizes":[2560,1000],"counts":[2,1],"rest_bytes":0,"rest_blocks":0,)"),
          HasSubstr(R"("parts":[{"who":"mlp model.py:20","stack":["model.py:20:mlp","train.py:5:step"],)")));
}

}  // namespace
}  // namespace gpustrata::session
