// The snapshot reader on honest files: all writers, all eras, and the oddities of formats/pytorch-snapshot
// section 13.
#include "engine/io/readers/snapshot/torch_snapshot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/io/any_reader.h"
#include "tests/unit/io/check_recording.h"
#include "tests/unit/io/py.h"
#include "tests/unit/io/read_file.h"
#include "tests/unit/io/snapshot_py.h"

namespace gpustrata::tests {
namespace {

using model::BlockState;
using model::Diag;
using model::kNoTime;
using model::kUnknownSize;
using model::Owner;
using namespace std::string_literals;

// One snapshot with everything in it: shared stacks, two devices, host data, settings, annotations, unknown
// keys.
Py rich_snapshot() {
  const Py inner = frame("forward", "model.py", 10);
  const Py outer = frame("main", "train.py", 200);
  const Py stack = Py::list({inner, outer});
  const Py text = std::string(300, 'x');  // too long for the short form of protocol 4
  const auto full_event = [&](const char* action, Py addr, int time) {
    return event(action, std::move(addr), 1000)
        .with("time_us", int64_t{1700000000000000} + time)
        .with("compile_context", "N/A")
        .with("user_metadata", "")
        .with("pool_id", Py::tuple({0, 0}))
        .with("frames", stack);
  };
  const Py seg = segment(int64_t{0x7f0000000000}, 2048,
                         {Py::dict({{"address", int64_t{0x7f0000000000}},
                                    {"size", 1024},
                                    {"requested_size", 1000},
                                    {"state", "active_allocated"},
                                    {"frames", stack}}),
                          Py::dict({{"address", int64_t{0x7f0000000400}},
                                    {"size", 1024},
                                    {"requested_size", 4000},
                                    {"state", "inactive"},
                                    {"frames", Py::list({})}})})
                     .with("segment_type", "small")
                     .with("allocated_size", 1024)
                     .with("active_size", 1024)
                     .with("requested_size", 1000)
                     .with("segment_pool_id", Py::tuple({1, 0}))
                     .with("is_expandable", false)
                     .with("frames", Py::list({inner}));
  return Py::dict(
      {{"segments", Py::list({seg})},
       {"device_traces",
        Py::list({Py::list({full_event("alloc", int64_t{0x7f0000000000}, 1),
                            full_event("free_requested", int64_t{0x7f0000000000}, 2)
                                .with("forward_frames", Py::list({"File \"a\"\n", "\tline\\2\n"}))}),
                  Py::list({full_event("segment_alloc", uint64_t{0x8000000000001000}, 3),
                            event("snapshot", 0, 77), full_event("alloc", int64_t{1} << 33, -4)})})},
       {"allocator_settings", Py::dict({{"max_split_size", -1},
                                        {"garbage_collection_threshold", 0.25},
                                        {"expandable_segments", true},
                                        {"PYTORCH_CUDA_ALLOC_CONF", ""},
                                        {"roundup_power2_divisions", Py::dict({{"1", 0}, {"2", 8}})}})},
       {"external_annotations", Py::list({Py::dict({{"name", "step"},
                                                    {"stage", "START"},
                                                    {"device", 0},
                                                    {"time_us", int64_t{1700000000000001}}}),
                                          Py::dict({{"name", "step"},
                                                    {"stage", "END"},
                                                    {"device", 0},
                                                    {"time_us", int64_t{1700000000000009}}})})},
       {"host_segments", Py::list({segment(4096, 512, {block(512, "active_allocated")}).with("device", -1)})},
       {"host_traces", Py::list({event("alloc", 4096, 512)})},
       {"our_own", Py::list({text, Py::tuple({}), Py::tuple({1}), Py::tuple({1, 2, 3}),
                             Py::tuple({1, 2, 3, 4}), nullptr, int64_t{-70000}, int64_t{-1} << 40, 300})}});
}

constexpr std::string_view kRichText =
    R"(snapshot "" settings "{"max_split_size":-1,"garbage_collection_threshold":0.25,"expandable_segments":true,"PYTORCH_CUDA_ALLOC_CONF":"","roundup_power2_divisions":{"1":0,"2":8}}" host true our_own=["@",[],[1],[1,2,3],[1,2,3,4],null,-70000,-1099511627776,300]
 segment 0x7f0000000000 device 0 size 2048 allocated 1024 active 1024 requested 1000 stream 0 pool (1,0) type 1 expandable 1 metadata - stack forward@model.py:10
  block 0x7f0000000000 size 1024 requested 1000 state 0 metadata - stack forward@model.py:10 main@train.py:200
  block 0x7f0000000400 size 1024 requested 4000 state 2 metadata - stack )"
    R"(
 device 0
  alloc 0x7f0000000000 1000 time 1700000000000001 stream 0 pool (0,0) context "N/A" metadata "" stack forward@model.py:10 main@train.py:200
  free_requested 0x7f0000000000 1000 time 1700000000000002 stream 0 pool (0,0) context "N/A" metadata "" stack forward@model.py:10 main@train.py:200 forward_frames=File "a"
	line\2

 device 1
  segment_alloc 0x8000000000001000 1000 time 1700000000000003 stream 0 pool (0,0) context "N/A" metadata "" stack forward@model.py:10 main@train.py:200
  snapshot 0x0 77 time - stream 0 pool - context - metadata - stack -
  alloc 0x200000000 1000 time 1699999999999996 stream 0 pool (0,0) context "N/A" metadata "" stack forward@model.py:10 main@train.py:200
 host
 segment 0x1000 device -1 size 512 allocated -1 active -1 requested -1 stream 0 pool - type 0 expandable 0 metadata - stack -
  block 0x1000 size 512 requested -1 state 0 metadata - stack -
  alloc 0x1000 512 time - stream 0 pool - context - metadata - stack -
 annotation step stage 1 device 0 time 1700000000000001
 annotation step stage 2 device 0 time 1700000000000009
1 x unknown_key
)";

std::string rich_text() {
  std::string text(kRichText);
  return text.replace(text.find('@'), 1, std::string(300, 'x'));
}

TEST(TorchSnapshot, EveryWriterGivesTheSameRecording) {
  for (const Writer writer : kAllWriters) {
    EXPECT_EQ(text_of(*read(rich_snapshot(), writer)), rich_text()) << "writer " << static_cast<int>(writer);
  }
}

TEST(TorchSnapshot, ChunksOfAnySizeGiveTheSameRecording) {
  for (const Writer writer : kAllWriters) {
    const std::string bytes = pickled(rich_snapshot(), writer);
    for (const size_t chunk : {1, 2, 7, 64, 1000}) {
      EXPECT_EQ(text_of(*read_bytes(bytes, {.chunk = chunk})), rich_text())
          << "writer " << static_cast<int>(writer) << ", chunks of " << chunk;
    }
  }
}

TEST(TorchSnapshot, SizeOfTheInputMayBeUnknown) {
  EXPECT_EQ(text_of(*read_bytes(pickled(rich_snapshot()), {.tell_size = false})), rich_text());
}

TEST(TorchSnapshot, RecordingIsInOrder) { EXPECT_EQ(problem_of(read(rich_snapshot())->recording), ""); }

TEST(TorchSnapshot, TellsHowManyBytesCameIn) {
  const std::string bytes = pickled(rich_snapshot()) + std::string(3, '\0');
  EXPECT_EQ(read_bytes(bytes)->recording.input_bytes, static_cast<int64_t>(bytes.size()));
}

TEST(TorchSnapshot, GivesItsMemoryBackAfterTheEnd) {
  const auto file = read(rich_snapshot());
  // What is left belongs to the tables; the string pool alone takes 256 KiB.
  EXPECT_LT(file->budget.used(), int64_t{400} << 10);
}

TEST(TorchSnapshot, ReadsTheCppVectorOfTheFormatPage) {
  const auto file =
      read_bytes(from_hex("80027d2858080000007365676d656e747371005d28657101580d0000006465766963655f7472616365"
                          "7371025d285d287d2858060000006163"
                          "74696f6e71035805000000616c6c6f63710458040000006164647271058a0800000000007f00005804"
                          "00000073697a6571064de80358060000"
                          "0073747265616d71074b00580700000074696d655f757371088a0800401e18240a0600580700000070"
                          "6f6f6c5f696471094b004b0086710a58"
                          "060000006672616d6573710b5d287d2858040000006e616d65710c580100000066710d580800000066"
                          "696c656e616d65710e5804000000612e"
                          "7079710f58040000006c696e6571104affffffff757111657112757113657114657115752e"));
  EXPECT_EQ(text_of(*file),
            "snapshot \"\" settings - host false\n device 0\n"
            "  alloc 0x7f0000000000 1000 time 1700000000000000 stream 0 pool (0,0) context - metadata - "
            "stack f@a.py:-1\n");
}

TEST(TorchSnapshot, ReadsThePythonVectorOfTheFormatPage) {
  const auto file =
      read_bytes(from_hex("80049564000000000000007d94288c087365676d656e7473945d948c0d6465766963655f7472616365"
                          "73945d945d947d94288c0661"
                          "6374696f6e948c05616c6c6f63948c0461646472948a090010000000000080008c0473697a65944de8"
                          "038c0673747265616d944b0075"
                          "6161752e"));
  EXPECT_EQ(text_of(*file),
            "snapshot \"\" settings - host false\n device 0\n"
            "  alloc 0x8000000000001000 1000 time - stream 0 pool - context - metadata - stack -\n");
}

// -- Shapes.

TEST(TorchSnapshot, TraceLongerThanABatchIsOneRange) {
  std::vector<Py> events;
  events.reserve(2501);
  for (int i = 0; i < 2501; ++i) events.push_back(event("alloc", i, i));
  for (const Writer writer : kAllWriters) {
    const auto file = read(snapshot_of(events), writer);
    const model::RowRange rows = file->recording.parts[0].events_of(0);
    ASSERT_EQ(rows.count, 2501);
    EXPECT_EQ(file->recording.events.size[static_cast<size_t>(rows.end()) - 1], 2500);
  }
}

TEST(TorchSnapshot, UsersDictOfSnapshotsGivesNames) {
  const auto file = read(Py::dict({{"rank0", snapshot_of({event("alloc", 1, 1)})},
                                   {"note", "my run"},
                                   {"rank1", Py::list({segment(4096, 512, {block(512, "inactive")})})}}));
  ASSERT_EQ(file->recording.parts.size(), 2U);
  EXPECT_EQ(file->recording.parts[0].name, "rank0");
  EXPECT_EQ(file->recording.parts[0].events_of(0).count, 1);
  EXPECT_EQ(file->recording.parts[1].name, "rank1");
  EXPECT_EQ(file->recording.parts[1].segments.count, 1);
}

TEST(TorchSnapshot, NamesOfWrappersInWrappersAreJoined) {
  const auto file = read(Py::dict({{"run", Py::list({snapshot_of({}), Py::tuple({snapshot_of({}), 5})})}}));
  ASSERT_EQ(file->recording.parts.size(), 2U);
  EXPECT_EQ(file->recording.parts[0].name, "run/0");
  EXPECT_EQ(file->recording.parts[1].name, "run/1/0");
}

TEST(TorchSnapshot, KeysOfAWrapperMayBeNumbers) {
  // {0: snapshot, (1, 2): snapshot}
  const std::string one = pickled(snapshot_of({}), Writer::cpp);
  const std::string body = one.substr(2, one.size() - 3);
  const auto file = read_bytes("\x80\x02}(K\x00"s + body + "K\x01K\x02\x86" + body + "u.");
  ASSERT_EQ(file->recording.parts.size(), 2U);
  EXPECT_EQ(file->recording.parts[0].name, "0");
  EXPECT_EQ(file->recording.parts[1].name, "[1,2]");
}

TEST(TorchSnapshot, SnapshotReferredToTwiceIsListedOnce) {
  const Py shared = snapshot_of({event("alloc", 1, 1)});
  const auto file = read(Py::dict({{"first", shared}, {"again", Py::list({shared, shared})}}));
  ASSERT_EQ(file->recording.parts.size(), 1U);
  EXPECT_EQ(file->recording.parts[0].name, "again/0");
}

TEST(TorchSnapshot, HostDataHasItsOwnRanges) {
  const auto file = read(snapshot_of({})
                             .with("host_segments", Py::list({}))
                             .with("host_traces", Py::list({event("alloc", 64, 64)})));
  EXPECT_TRUE(file->recording.parts[0].has_host);
  EXPECT_EQ(file->recording.parts[0].host_events.count, 1);
  EXPECT_EQ(file->recording.parts[0].host_segments.count, 0);
}

TEST(TorchSnapshot, FramesMayCarryFxData) {
  const Py node = frame("forward", "<eval_with_key>.1", 5)
                      .with("fx_node_op", "call_function")
                      .with("fx_node_name", "add")
                      .with("fx_node_target", "operator.add")
                      .with("fx_original_trace", "File \"m.py\"");
  const auto file = read(snapshot_of(
      {event("alloc", 1, 1).with("frames", Py::list({node, frame("forward", "<eval_with_key>.1", 5)}))}));
  EXPECT_EQ(file->stack(file->recording.events.stack[0]),
            "forward@<eval_with_key>.1:5[call_function|add|operator.add|File \"m.py\"] "
            "forward@<eval_with_key>.1:5");
}

TEST(TorchSnapshot, FrameTextsOfOtherTypesAreTolerated) {
  const Py odd = Py::dict({{"name", nullptr}, {"filename", "a.py"}, {"line", 3}});
  const Py odder = Py::dict({{"name", 7}, {"filename", "a.py"}, {"line", "x"}});
  const auto file = read(snapshot_of({event("alloc", 1, 1).with("frames", Py::list({odd, odder}))}));
  EXPECT_EQ(file->stack(file->recording.events.stack[0]), "@a.py:3 7@a.py:0");
}

TEST(TorchSnapshot, DuplicateKeysLastOneWins) {
  const auto file = read_bytes("\x80\x02}(X\x08\0\0\0segments]X\x01\0\0\0aK\x01X\x01\0\0\0aK\x02u."s);
  EXPECT_EQ(file->extra(Owner::part, 0, "a"), "2");
  EXPECT_EQ(file->count(Diag::duplicate_key), 1);
  const auto known = read_bytes(
      "\x80\x02](}(X\x06\0\0\0deviceK\x01X\x06\0\0\0deviceK\x02X\x07\0\0\0addressK\x01X\x0a\0\0\0total_sizeK\x01X\x06\0\0\0blocks]ue."s);
  ASSERT_TRUE(known->status);
  EXPECT_EQ(known->recording.segments.device[0], 2);
  EXPECT_EQ(known->count(Diag::duplicate_key), 1);
}

TEST(TorchSnapshot, IncompleteEventsAreLeftOut) {
  const auto file = read(snapshot_of({Py::dict({{"action", "alloc"}, {"size", 1}}),
                                      Py::dict({{"action", "alloc"}, {"addr", 1}}), event("alloc", 1, 1)}));
  EXPECT_EQ(file->recording.parts[0].events_of(0).count, 1);
  EXPECT_EQ(file->count(Diag::event_incomplete), 2);
}

TEST(TorchSnapshot, IncompleteBlocksAndSegmentsAreLeftOut) {
  const auto file = read(snapshot(
      {segment(4096, 512, {Py::dict({{"state", "inactive"}, {"address", 5}}), block(512, "inactive")}),
       segment(4096, 512, {}).without("address")},
      {}));
  EXPECT_EQ(file->count(Diag::block_incomplete), 1);
  EXPECT_EQ(file->count(Diag::segment_incomplete), 1);
  EXPECT_EQ(file->recording.parts[0].segments.count, 1);
}

TEST(TorchSnapshot, FieldsOfTheWrongTypeCountAsAbsent) {
  const auto file = read(snapshot_of({event("alloc", 1, 1)
                                          .with("time_us", "noon")
                                          .with("frames", 7)
                                          .with("stream", Py::list({}))
                                          .with("pool_id", "x")}));
  EXPECT_EQ(file->recording.events.time[0], kNoTime);
  EXPECT_TRUE(file->recording.events.stack[0].is_none());
  EXPECT_EQ(file->recording.events.stream[0].value, 0);
  EXPECT_TRUE(file->recording.events.pool[0].is_none());
  EXPECT_EQ(file->count(Diag::wrong_type), 4);
}

TEST(TorchSnapshot, NegativeSizesAreZero) {
  const auto file = read(snapshot_of({event("alloc", 1, -5)}));
  EXPECT_EQ(file->recording.events.size[0], 0);
  EXPECT_EQ(file->count(Diag::negative_size), 1);
}

TEST(TorchSnapshot, WholeNumbersMayBeFloats) {
  const auto file = read(snapshot_of({event("alloc", 4096.0, 512.0), event("alloc", 1, 0.5)}));
  EXPECT_EQ(file->recording.events.address[0], 4096U);
  EXPECT_EQ(file->recording.events.size[0], 512);
  EXPECT_EQ(file->count(Diag::event_incomplete), 1);
}

TEST(TorchSnapshot, NumbersBeyond64BitsAreAbsent) {
  const Py huge = Py::opcodes(from_hex("8a0a 00000000000000000001"));
  const auto file = read(
      snapshot_of({event("alloc", 1, 1).with("time_us", huge), event("alloc", 1, 1).with("note", huge)}));
  EXPECT_EQ(file->recording.events.time[0], kNoTime);
  EXPECT_EQ(file->extra(Owner::event, 1, "note"), "\"<a number of 10 bytes>\"");
  EXPECT_GE(file->count(Diag::integer_out_of_range), 1);
}

TEST(TorchSnapshot, BlocksThatDoNotTileAreTold) {
  const auto file = read(snapshot({segment(4096, 1024, {block(512, "inactive")})}, {}));
  EXPECT_EQ(file->count(Diag::blocks_do_not_tile), 1);
  EXPECT_EQ(file->recording.segments.total_size[0], 1024);
}

TEST(TorchSnapshot, BlocksOutOfOrderAreSorted) {
  const auto file =
      read(snapshot({segment(4096, 1024,
                             {block(512, "inactive").with("address", 4608).with("tag", "late"),
                              block(512, "active_allocated").with("address", 4096).with("tag", "early")})},
                    {}));
  EXPECT_EQ(file->recording.blocks.address[0], 4096U);
  EXPECT_EQ(file->recording.blocks.state[0], BlockState::active_allocated);
  EXPECT_EQ(file->extra(Owner::block, 0, "tag"), "\"early\"");
  EXPECT_EQ(file->extra(Owner::block, 1, "tag"), "\"late\"");
  EXPECT_EQ(file->count(Diag::blocks_do_not_tile), 0);
}

TEST(TorchSnapshot, SegmentWithoutASizeHasTheSumOfItsBlocks) {
  const auto file = read(snapshot(
      {segment(4096, 0, {block(512, "inactive"), block(256, "inactive")}).without("total_size")}, {}));
  EXPECT_EQ(file->recording.segments.total_size[0], 768);
}

TEST(TorchSnapshot, AddrIsAnAliasInBlocks) {
  const auto file = read(snapshot({segment(4096, 512, {block(512, "inactive").with("addr", 4096)})}, {}));
  EXPECT_EQ(file->recording.blocks.address[0], 4096U);
  EXPECT_EQ(file->count(Diag::unknown_key), 0);
}

TEST(TorchSnapshot, SegmentsOfSyntheticFilesKnowNoPool) {  // default unknown, not (0, 0)
  const auto file = read(snapshot({segment(4096, 512, {block(512, "inactive")})}, {}));
  EXPECT_TRUE(file->recording.segments.pool[0].is_none());
  EXPECT_EQ(file->recording.segments.expandable[0], model::Tristate::unknown);
  EXPECT_EQ(file->recording.segments.allocated_size[0], kUnknownSize);
}

TEST(TorchSnapshot, OtherPicklesAreRefusedWithTheirKeys) {
  const auto file = read(Py::dict({{"epoch", 3}, {"loss", 0.5}}));
  ASSERT_FALSE(file->status);
  EXPECT_EQ(file->status.error().code, ErrorCode::unsupported);
  EXPECT_EQ(file->status.error().message,
            "not a memory snapshot: the pickle holds a dict with the keys epoch, loss");
}

TEST(TorchSnapshot, OtherPicklesAreRefusedWithTheFirstClass) {
  const auto file = read_bytes("\x80\x02]q\0ccollections\ndeque\nq\1)Rq\2a."s);
  ASSERT_FALSE(file->status);
  EXPECT_EQ(file->status.error().code, ErrorCode::unsupported);
  EXPECT_EQ(file->status.error().offset, 5);
  EXPECT_EQ(file->status.error().message,
            "not a memory snapshot: the pickle holds a list of 1 item; it refers to collections.deque");
}

TEST(TorchSnapshot, SegmentsOfOtherProgramsAreNoSnapshot) {
  // What a speech recogniser returns: "segments" with other things in it.
  const auto file = read(
      Py::dict({{"text", "hello"}, {"segments", Py::list({Py::dict({{"start", 0.5}, {"text", "hello"}})})}}));
  ASSERT_FALSE(file->status);
  EXPECT_EQ(file->status.error().message,
            "not a memory snapshot: the pickle holds a dict with the keys text, segments");
}

TEST(TorchSnapshot, AnyReaderOpensPicklesAndRefusesTheRest) {
  Budget budget(int64_t{64} << 20);
  model::Recording recording(budget);
  io::AnyReader reader(recording);
  const std::string bytes = pickled(rich_snapshot());
  ASSERT_TRUE(io::push(reader, std::as_bytes(std::span(bytes))));
  ASSERT_TRUE(reader.finish());
  EXPECT_EQ(recording.parts.size(), 1U);
}

}  // namespace
}  // namespace gpustrata::tests
