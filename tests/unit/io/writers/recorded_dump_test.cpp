// What a dump of running allocators says, worked out by hand from the rules of the allocator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/io/recorded_run.h"
#include "tests/unit/numbers.h"

namespace gpustrata::tests {
namespace {

using model::Owner;
using testing::HasSubstr;

TEST(RecordedDump, AnAllocAndAFree) {
  RecordedRun run;
  run.record();
  const StackId alloc_stack = run.stack({"forward", "main"}), free_stack = run.stack({"backward", "main"});
  const uint64_t address = run.malloc(1000, alloc_stack);
  run.free(address, free_stack);
  (void)run.malloc(700, alloc_stack);
  const auto file = read_bytes(run.dump());
  // 1000 bytes are a block of 1024 in a segment of 2 MiB of the small pool; 700 are 1024 bytes of it again.
  // The rest keeps the requested_size that its last use left.
  EXPECT_EQ(
      text_of(*file),
      "snapshot \"\" settings \"{\"PYTORCH_CUDA_ALLOC_CONF\":\"\",\"max_split_size\":-1,"
      "\"garbage_collection_threshold\":0.0,\"expandable_segments\":false,\"pinned_num_register_threads\":1,"
      "\"release_lock_on_cudamalloc\":false,\"pinned_use_cuda_host_register\":false,"
      "\"graph_capture_record_stream_reuse\":false,\"free_order\":\"address\",\"roundup_power2_divisions\":{\"1\":0,\"2\":0,\"4\":0,\"8\":0,"
      "\"16\":0,\"32\":0,\"64\":0,\"128\":0,\"256\":0,\"512\":0,\"1024\":0,\"2048\":0,\"4096\":0,\"8192\":0,"
      "\"16384\":0,\"32768\":0}}\" host false trace_alloc_max_entries=[9223372036854775807] "
      "trace_alloc_overflowed=[false] gpustrata={\"lost_events\":[0],\"lost_annotations\":0,\"lost_stacks\":0,"
      "\"context\":\"all\",\"skip_actions\":[]}\n"
      " segment 0x7f0000000000 device 0 size 2097152 allocated 1024 active 1024 requested 700 stream 0 pool (0,0) "
      "type 1 expandable 1 metadata - stack forward@model.py:1 main@model.py:1\n"
      "  block 0x7f0000000000 size 1024 requested 700 state 0 metadata - stack forward@model.py:1 main@model.py:1\n"
      "  block 0x7f0000000400 size 2096128 requested 1000 state 2 metadata - stack \n"
      " device 0\n"
      "  segment_alloc 0x7f0000000000 2097152 time 1700000000000000 stream 0 pool (0,0) context \"N/A\" metadata \"\" "
      "stack forward@model.py:1 main@model.py:1\n"
      "  alloc 0x7f0000000000 1000 time 1700000000000001 stream 0 pool (0,0) context \"N/A\" metadata \"\" "
      "stack forward@model.py:1 main@model.py:1\n"
      "  free_requested 0x7f0000000000 1000 time 1700000000000002 stream 0 pool (0,0) context \"N/A\" metadata \"\" "
      "stack backward@model.py:1 main@model.py:1\n"
      "  free_completed 0x7f0000000000 1000 time 1700000000000003 stream 0 pool (0,0) context \"N/A\" metadata \"\" "
      "stack backward@model.py:1 main@model.py:1\n"
      "  alloc 0x7f0000000000 700 time 1700000000000004 stream 0 pool (0,0) context \"N/A\" metadata \"\" "
      "stack forward@model.py:1 main@model.py:1\n");
}

// Stacks of block, alloc and free in a dump at each level.
TEST(RecordedDump, LevelsOfStacks) {
  struct Case {
    std::optional<std::string> context;
    const char *block, *alloc, *free;
  };
  const Case cases[] = {{std::nullopt, "", "-", "-"},
                        {"state", "a@model.py:1", "-", "-"},
                        {"alloc", "a@model.py:1", "a@model.py:1", "a@model.py:1"},
                        {"all", "a@model.py:1", "a@model.py:1", "f@model.py:1"}};
  for (const Case& wanted : cases) {
    RecordedRun run;
    trace::RecordOptions options;
    options.context = wanted.context;
    run.record(options);
    const uint64_t freed = run.malloc(512, run.stack({"a"}));
    (void)run.malloc(512, run.stack({"a"}));
    run.free(freed, run.stack({"f"}));
    const auto file = read_bytes(run.dump());
    const model::Recording& rec = file->recording;
    ASSERT_EQ(rec.events.size_rows(), 5U);  // segment_alloc, alloc, alloc, free_requested, free_completed
    EXPECT_EQ(file->stack(rec.events.stack[1]), wanted.alloc);
    EXPECT_EQ(file->stack(rec.events.stack[3]), wanted.free);
    EXPECT_EQ(file->stack(rec.blocks.stack[1]), wanted.block);
    EXPECT_EQ(file->stack(rec.blocks.stack[0]), "");  // free again
  }
}

TEST(RecordedDump, StacksOfLiveBlocksOutliveTheRecording) {
  RecordedRun run;
  run.record();
  (void)run.malloc(512, run.stack({"a"}));
  trace::RecordOptions off;
  off.enabled.reset();
  run.record(off);
  const auto file = read_bytes(run.dump());
  EXPECT_EQ(file->recording.events.size_rows(), 0U);
  EXPECT_EQ(file->stack(file->recording.blocks.stack[0]), "a@model.py:1");
}

TEST(RecordedDump, TheSnapshotEventComesAfterTheCopy) {
  RecordedRun run;
  run.record();
  (void)run.malloc(512);
  (void)run.dump();
  const auto file = read_bytes(run.dump());
  const model::EventTable& events = file->recording.events;
  ASSERT_EQ(events.size_rows(), 3U);
  EXPECT_EQ(events.action[2], trace::Action::snapshot);
  EXPECT_EQ(events.address[2], 0U);
  EXPECT_EQ(events.size[2], 512);
}

TEST(RecordedDump, ExpandableSegmentsAreTheirMappedRanges) {
  RecordedRun run(1, int64_t{8} << 30, "expandable_segments:True");
  run.record();
  const uint64_t first = run.malloc(30 * kMiB), second = run.malloc(30 * kMiB), third = run.malloc(30 * kMiB);
  run.free(second);
  run.allocator().empty_cache();
  const auto file = read_bytes(run.dump());
  const model::SegmentTable& segments = file->recording.segments;
  // Pages of 20 MiB: 0..100 MiB were mapped; of the free 30..60 MiB only the page 40..60 is free as a whole.
  ASSERT_EQ(segments.size_rows(), 2U);
  EXPECT_EQ(segments.address[0], first);
  EXPECT_EQ(segments.total_size[0], 40 * kMiB);
  EXPECT_EQ(segments.address[1], first + static_cast<uint64_t>(60 * kMiB));
  EXPECT_EQ(segments.address[1], third);
  EXPECT_EQ(segments.total_size[1], 40 * kMiB);
  EXPECT_EQ(segments.expandable[0], model::Tristate::yes);
  EXPECT_EQ(segments.allocated_size[0], 30 * kMiB);
}

TEST(RecordedDump, SeveralDevicesRegionsTextsAndPools) {
  RecordedRun run(2);
  run.record();
  run.recorder.begin_region("step", 1);
  run.recorder.set_user_metadata("epoch 3");
  ASSERT_TRUE(run.allocator(1).begin_allocate_to_pool({0, 7}));
  const auto address = run.allocator(1).malloc(512, -3);
  ASSERT_TRUE(address);
  ASSERT_TRUE(run.allocator(1).end_allocate_to_pool({0, 7}));
  run.recorder.end_region("step", 1);
  ASSERT_TRUE(model::annotate_block(run.allocator(1), run.recorder, *address, "weights"));
  EXPECT_FALSE(model::annotate_block(run.allocator(1), run.recorder, *address + 512, "weights"));
  const auto file = read_bytes(run.dump());
  const std::string text = text_of(*file);
  EXPECT_THAT(text, HasSubstr(" device 0\n device 1\n"));
  EXPECT_THAT(text,
              HasSubstr("alloc 0x7f0000000000 512 time 1700000000000002 stream -3 pool (0,7) context \"N/A\" "
                        "metadata \"epoch 3\" stack -"));
  EXPECT_THAT(
      text,
      HasSubstr("annotate 0x7f0000000000 512 time 1700000000000004 stream -3 pool (0,7) context \"N/A\" "
                "metadata \"weights\" stack -"));
  EXPECT_THAT(text, HasSubstr(" annotation step stage 1 device 1 time 1700000000000000\n"
                              " annotation step stage 2 device 1 time 1700000000000003\n"));
  EXPECT_THAT(text,
              HasSubstr("device 1 size 2097152 allocated 512 active 512 requested 512 stream -3 pool (0,7)"));
}

TEST(RecordedDump, OnlyTheSegmentsOfAPool) {
  RecordedRun run;
  run.record();
  (void)run.malloc(512);
  ASSERT_TRUE(run.allocator().begin_allocate_to_pool({1, 0}));
  (void)run.malloc(512);
  ASSERT_TRUE(run.allocator().end_allocate_to_pool({1, 0}));
  model::Recording recording(run.budget);
  model::SnapshotOptions options;
  options.pool = trace::PoolKey{1, 0};
  options.include_traces = false;
  ASSERT_TRUE(model::take_snapshot(run.recorder, run.all(), options, recording));
  recording.seal();
  EXPECT_EQ(recording.segments.size_rows(), 1U);
  EXPECT_EQ(recording.pools[recording.segments.pool[0].index()], (model::Pool{1, 0}));
  EXPECT_EQ(recording.events.size_rows(), 0U);
}

TEST(RecordedDump, ARingThatLostEventsSaysSo) {
  RecordedRun run;
  trace::RecordOptions options;
  options.max_entries = 2;
  run.record(options);
  (void)run.malloc(512);
  (void)run.malloc(512);
  const auto file = read_bytes(run.dump());
  EXPECT_EQ(file->recording.events.size_rows(), 2U);
  EXPECT_EQ(file->extra(Owner::part, 0, "trace_alloc_max_entries"), "[2]");
  EXPECT_EQ(file->extra(Owner::part, 0, "trace_alloc_overflowed"), "[true]");
  EXPECT_THAT(file->extra(Owner::part, 0, "gpustrata"), HasSubstr("\"lost_events\":[1]"));
}

TEST(RecordedDump, OnOutOfMemory) {
  RecordedRun run(1, 64 * kMiB);
  run.record();
  std::string asked, dumped;
  run.allocator().add_oom_observer([&](const alloc::OutOfMemory& oom) {
    asked = oom.text;
    io::MemorySink sink(run.budget);
    EXPECT_TRUE(dump_snapshot(run.recorder, run.all(), int64_t{1} << 30, sink));
    dumped = as_text(sink.bytes());
  });
  (void)run.malloc(40 * kMiB, run.stack({"fits"}));
  const auto refused = run.allocator().malloc(40 * kMiB, 0, {run.stack({"too_much"}), {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(asked, HasSubstr("Tried to allocate 40.00 MiB"));
  const auto file = read_bytes(dumped);
  const model::EventTable& events = file->recording.events;
  ASSERT_EQ(events.size_rows(), 3U);  // segment_alloc, alloc, oom
  EXPECT_EQ(events.action[2], trace::Action::oom);
  EXPECT_EQ(events.address[2], static_cast<uint64_t>(24 * kMiB));  // free on the device
  EXPECT_EQ(events.size[2], 40 * kMiB);
  EXPECT_EQ(file->stack(events.stack[2]), "too_much@model.py:1");
}

TEST(RecordedDump, TooLittleMemoryIsAnError) {
  RecordedRun run;
  run.record();
  for (int i = 0; i < 1000; ++i) (void)run.malloc(512, run.stack({"a"}));
  io::MemorySink sink(run.budget);
  const Status status = dump_snapshot(run.recorder, run.all(), 10'000, sink);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::limit_exceeded);
  EXPECT_TRUE(sink.bytes().empty());
}

}  // namespace
}  // namespace gpustrata::tests
