// The oddities of formats/pytorch-snapshot section 13, in its order; the number is the one there.
#include <fmt/format.h>
#include <gtest/gtest.h>

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
using trace::Action;
using namespace std::string_literals;

TEST(SnapshotOddity, BareListOfSegmentsIsASnapshotWithoutTraces) {  // 1
  const auto file = read(
      Py::list({segment(4096, 512, {block(512, "inactive")}), segment(8192, 512, {block(512, "inactive")})}));
  ASSERT_EQ(file->recording.parts.size(), 1U);
  EXPECT_EQ(file->recording.parts[0].name, "");
  EXPECT_EQ(file->recording.parts[0].segments.count, 2);
  EXPECT_TRUE(file->recording.parts[0].traces.empty());
}

TEST(SnapshotOddity, DictWithoutTracesIsASnapshot) {  // 1
  const auto file = read(Py::dict({{"segments", Py::list({})}}));
  EXPECT_EQ(text_of(*file), "snapshot \"\" settings - host false\n");
}

TEST(SnapshotOddity, OuterListOfTracesMayBeEmpty) {  // 1
  const auto file = read(snapshot({segment(4096, 512, {block(512, "inactive")}).with("device", 3)}, {}));
  EXPECT_EQ(file->recording.parts[0].devices(file->recording.segments), std::vector<int32_t>{3});
}

TEST(SnapshotOddity, TracesMayBelongToMoreDevicesThanSegments) {  // 1
  const auto file = read(snapshot({}, {Py::list({}), Py::list({event("alloc", 1, 2)}), Py::list({})}));
  ASSERT_EQ(file->recording.parts[0].traces.size(), 3U);
  EXPECT_EQ(file->recording.parts[0].events_of(1).count, 1);
  EXPECT_EQ(file->recording.parts[0].devices(file->recording.segments), std::vector<int32_t>{1});
}

TEST(SnapshotOddity, TracesOfManyDevicesWithoutEventsAreEmpty) {
  const auto file = read(snapshot({}, {Py::list({}), Py::list({})}));
  EXPECT_EQ(file->recording.parts[0].traces.size(), 2U);
}

TEST(SnapshotOddity, FlatListOfEventsIsTheTraceOfDeviceZero) {
  const auto file =
      read(Py::dict({{"segments", Py::list({})}, {"device_traces", Py::list({event("alloc", 1, 2)})}}));
  EXPECT_EQ(file->recording.parts[0].events_of(0).count, 1);
}

TEST(SnapshotOddity, BlocksWithoutAddressLieOneAfterTheOther) {  // 2
  const auto file = read(snapshot(
      {segment(4096, 1024, {block(512, "inactive"), block(256, "active_allocated"), block(256, "inactive")})},
      {}));
  const model::BlockTable& blocks = file->recording.blocks;
  ASSERT_EQ(blocks.size_rows(), 3U);
  EXPECT_EQ(blocks.address[0], 4096U);
  EXPECT_EQ(blocks.address[1], 4608U);
  EXPECT_EQ(blocks.address[2], 4864U);
  EXPECT_EQ(blocks.requested_size[1], kUnknownSize);
  EXPECT_TRUE(blocks.stack[1].is_none());
  EXPECT_EQ(file->count(Diag::blocks_do_not_tile), 0);
}

TEST(SnapshotOddity, FirstEntryOfTheHistoryIsTheAllocationThatLivesInABlock) {  // 2
  const auto entry = [](int64_t addr, int size, const char* name) {
    return Py::dict({{"addr", addr}, {"real_size", size}, {"frames", Py::list({frame(name, "a.py", 1)})}});
  };
  const Py active = block(512, "active_allocated")
                        .with("history", Py::list({entry(-4096, 500, "now"), entry(-4096, 300, "before")}));
  const Py inactive = block(512, "inactive").with("history", Py::list({entry(-3584, 400, "gone")}));
  const auto file = read(Py::list({segment(int64_t{-4096}, 1024, {active, inactive})}), Writer::protocol2);
  const model::BlockTable& blocks = file->recording.blocks;
  EXPECT_EQ(blocks.requested_size[0], 500);
  EXPECT_EQ(file->stack(blocks.stack[0]), "now@a.py:1");
  EXPECT_EQ(blocks.history[0].count, 2);
  EXPECT_EQ(blocks.requested_size[1], kUnknownSize);
  EXPECT_EQ(file->stack(blocks.stack[1]), "-");
  EXPECT_EQ(blocks.history[1].count, 1);
  EXPECT_EQ(file->recording.history.address[2], 0xfffffffffffff200U);
}

TEST(SnapshotOddity, RequestedSizeOfAnInactiveBlockMayBeAnything) {  // 3
  const auto file =
      read(snapshot({segment(4096, 512, {block(512, "inactive").with("requested_size", 99999)})}, {}));
  EXPECT_EQ(file->recording.blocks.requested_size[0], 99999);
}

TEST(SnapshotOddity, PendingFreeHasTwoNames) {  // 4
  const auto file = read(snapshot({segment(4096, 1536,
                                           {block(512, "active_pending_free"),
                                            block(512, "active_awaiting_free"), block(512, "borrowed")})},
                                  {}));
  EXPECT_EQ(file->recording.blocks.state[0], BlockState::active_pending_free);
  EXPECT_EQ(file->recording.blocks.state[1], BlockState::active_pending_free);
  EXPECT_EQ(file->recording.blocks.state[2], BlockState::unknown);
  EXPECT_EQ(file->count(Diag::unknown_state), 1);
  EXPECT_EQ(file->recording.diagnostics[Diag::unknown_state].detail, "borrowed");
}

TEST(SnapshotOddity, LinesThatAreUnknownStayAtOrBelowZero) {  // 5
  const Py stack = Py::list({frame("a", "??", -1), frame("b", "", UINT64_MAX), frame("c", "none", 0),
                             frame("d", "<string>", nullptr)});
  const auto file = read(snapshot_of({event("alloc", 1, 2).with("frames", stack)}));
  EXPECT_EQ(file->stack(file->recording.events.stack[0]), "a@??:-1 b@:-1 c@none:0 d@<string>:0");
  EXPECT_EQ(file->count(Diag::wrong_type), 0);
}

TEST(SnapshotOddity, LineAsNineBytesOfProtocolFour) {  // the last vector of section 9.5, inside a frame
  const Py line = Py::opcodes(from_hex("8a09ffffffffffffffff00"));
  const auto file =
      read(snapshot_of({event("alloc", 1, 2).with("frames", Py::list({frame("f", "a.py", line)}))}));
  EXPECT_EQ(file->stack(file->recording.events.stack[0]), "f@a.py:-1");
}

TEST(SnapshotOddity, NamesOfManyKilobytesAreKeptWhole) {  // 5
  const std::string name(100000, 't');
  for (const size_t chunk : {0, 7, 4096, 5000}) {
    const auto file = read_bytes(
        pickled(
            snapshot_of({event("alloc", 1, 2).with("frames", Py::list({frame(name.c_str(), "a.h", 1)}))})),
        {.chunk = chunk});
    EXPECT_EQ(file->stack(file->recording.events.stack[0]), name + "@a.h:1");
  }
}

TEST(SnapshotOddity, AddressesAreModuloTwoToThe64) {  // 6
  const auto file =
      read(snapshot_of({event("alloc", int64_t{-4096}, 1), event("alloc", UINT64_MAX - 4095, 1)}));
  EXPECT_EQ(file->recording.events.address[0], 0xfffffffffffff000U);
  EXPECT_EQ(file->recording.events.address[1], 0xfffffffffffff000U);
}

TEST(SnapshotOddity, StreamsAreSignedHandles) {  // 6
  const auto file = read(snapshot_of({event("alloc", 1, 1).with("stream", int64_t{-5}), event("alloc", 1, 1),
                                      event("alloc", 1, 1).with("stream", UINT64_MAX - 4)}));
  EXPECT_EQ(file->recording.streams, (std::vector<int64_t>{0, -5}));
  EXPECT_EQ(file->recording.events.stream[2], file->recording.events.stream[0]);
}

TEST(SnapshotOddity, SettingsAreKeptAsJsonText) {  // 7
  const auto file =
      read(snapshot_of({}).with("allocator_settings", Py::dict({{"max_split_size", -1}, {"x", 0.5}})));
  EXPECT_EQ(file->text(file->recording.parts[0].settings_json), R"({"max_split_size":-1,"x":0.5})");
}

TEST(SnapshotOddity, OomKeepsTheFreeBytesOfTheDevice) {  // 8
  const auto file = read(snapshot_of(
      {Py::dict({{"action", "oom"}, {"device_free", int64_t{5} << 30}, {"size", 1024}, {"stream", 0}}),
       event("snapshot", 0, 4096)}));
  EXPECT_EQ(file->recording.events.action[0], Action::oom);
  EXPECT_EQ(file->recording.events.address[0], uint64_t{5} << 30);
  EXPECT_EQ(file->recording.events.action[1], Action::snapshot);
  EXPECT_EQ(file->recording.events.size[1], 4096);
}

TEST(SnapshotOddity, NoFramesEmptyFramesAndNoneAreTold) {  // 9
  const auto file = read(snapshot_of({event("alloc", 1, 1), event("alloc", 1, 1).with("frames", Py::list({})),
                                      event("alloc", 1, 1).with("frames", nullptr)}));
  const model::EventTable& events = file->recording.events;
  EXPECT_TRUE(events.stack[0].is_none());
  ASSERT_FALSE(events.stack[1].is_none());
  EXPECT_EQ(file->recording.stacks.leaf(events.stack[1]), -1);
  EXPECT_TRUE(events.stack[2].is_none());
}

TEST(SnapshotOddity, SharedAndEqualStacksAreOneStack) {  // 10
  const Py inner = frame("f", "a.py", 1);
  const Py shared = Py::list({inner, frame("g", "a.py", 2)});
  const Py equal = Py::list({frame("f", "a.py", 1), frame("g", "a.py", 2)});
  for (const Writer writer : kAllWriters) {
    const auto file = read(snapshot_of({event("alloc", 1, 1).with("frames", shared),
                                        event("free_requested", 1, 1).with("frames", shared),
                                        event("alloc", 1, 1).with("frames", equal)}),
                           writer);
    const model::EventTable& events = file->recording.events;
    EXPECT_EQ(events.stack[0], events.stack[1]);
    EXPECT_EQ(events.stack[0], events.stack[2]);
    EXPECT_EQ(file->recording.stacks.size(), 1U);
  }
}

TEST(SnapshotOddity, ListReferredToWhileItIsStillOpenIsComplete) {  // 10
  // The list of frames is an item of an outer list when the event refers to it: not a cycle.
  const Py shared = Py::list({frame("f", "a.py", 1)});
  const auto file = read(
      Py::dict({{"kept", Py::list({shared, snapshot_of({event("alloc", 1, 1).with("frames", shared)})})}}));
  EXPECT_EQ(file->stack(file->recording.events.stack[0]), "f@a.py:1");
  EXPECT_EQ(file->count(Diag::cyclic_reference), 0);
}

TEST(SnapshotOddity, EventsSharedByTwoTracesAreRowsOfBoth) {  // 10
  const Py first = event("alloc", 1, 10).with("note", "n1");
  const Py second = event("free_requested", 1, 10).with("category", "input");
  const Py third = event("free_completed", 1, 10);
  const auto file = read(snapshot({}, {Py::list({first, second, third}), Py::list({third, second})}));
  const model::RowRange rows = file->recording.parts[0].events_of(1);
  ASSERT_EQ(rows.count, 2);
  EXPECT_EQ(file->recording.events.action[static_cast<size_t>(rows.first)], Action::free_completed);
  EXPECT_EQ(file->recording.events.action[static_cast<size_t>(rows.first) + 1], Action::free_requested);
  EXPECT_EQ(file->extra(Owner::event, rows.first + 1, "category"), "\"input\"");
  EXPECT_EQ(file->extra(Owner::event, rows.first, "category"), "-");
  EXPECT_EQ(problem_of(file->recording), "");
}

TEST(SnapshotOddity, SizesThatDoNotFitInto64BitsDoNotTileInAnyOrder) {
  // Three blocks of 2^62 bytes, one after the other, in a segment that does not say its size.
  const int64_t size = int64_t{1} << 62;
  const auto at = [&](int64_t address) { return block(size, "inactive").with("address", address); };
  for (const bool in_order : {true, false}) {
    const std::vector<Py> blocks =
        in_order ? std::vector{at(0), at(size), at(INT64_MIN)} : std::vector{at(size), at(0), at(INT64_MIN)};
    Py odd = Py::dict({{"device", 0}, {"address", 0}, {"stream", 0}, {"blocks", Py::list(blocks)}});
    const auto file = read(snapshot({odd}, {}));
    ASSERT_EQ(file->recording.segments.size_rows(), 1U);
    EXPECT_EQ(file->count(Diag::blocks_do_not_tile), 1) << in_order;
  }
}

TEST(SnapshotOddity, BlocksSharedByTwoSegmentsArePlacedInEach) {  // 10
  const Py blocks = Py::list({block(512, "inactive").with("tag", 7), block(512, "inactive")});
  const auto file = read(snapshot(
      {segment(4096, 1024, {}).with("blocks", blocks), segment(65536, 1024, {}).with("blocks", blocks)}, {}));
  const model::RowRange second = file->recording.segments.blocks[1];
  ASSERT_EQ(second.count, 2);
  EXPECT_EQ(file->recording.blocks.address[0], 4096U);
  EXPECT_EQ(file->count(Diag::blocks_do_not_tile), 1);  // the copies bring the first segment's addresses
  EXPECT_EQ(file->extra(Owner::block, second.first, "tag"), "7");
}

TEST(SnapshotOddity, CyclesAreCutOpen) {  // 10
  // d = {"segments": [], "self": d}
  const auto file = read_bytes("\x80\x04}\x94(\x8c\x08segments\x94]\x94\x8c\x04self\x94h\x00u."s);
  EXPECT_TRUE(file->status);
  EXPECT_EQ(file->count(Diag::cyclic_reference), 1);
  EXPECT_EQ(file->extra(Owner::part, 0, "self"), "null");
}

TEST(SnapshotOddity, MillionEventsUnderOneMarkTakeLittleMemory) {  // 11
  // The C++ writer's manner: }(..u}(..u ... e. 300,000 events of 41 bytes are 12.3 MB;
  // 72 bytes for each are set aside for the timeline, 21.6 MB.
  const std::string one = pickled(event("alloc", 1, 1), Writer::cpp);
  std::string bytes = "\x80\x02}(X\x0d\0\0\0device_traces](]("s;
  bytes += one.substr(2, one.size() - 3);
  const std::string again = "}(h\0h\1h\2K\1h\3K\1h\4K\0u"s;
  for (int i = 1; i < 300000; ++i) bytes += again;
  bytes += "eeu.";
  const auto file = read_bytes(bytes, {.limit = int64_t{46} << 20, .tell_size = false});
  ASSERT_TRUE(file->status) << file->status.error().message;
  EXPECT_EQ(file->count(Diag::budget_exhausted), 0);
  EXPECT_EQ(file->recording.parts[0].events_of(0).count, 300000);
}

TEST(SnapshotOddity, MemoIndicesMayPassTwoToThe24) {  // 11
  const uint32_t last = (1U << 24) + 3;
  std::string bytes = "\x80\x02}(X\x08\0\0\0segments]X\x03\0\0\0pad"s;
  bytes += "B" + u32(last) + std::string(last, 'p');  // enough bytes that such an index is credible
  bytes += "X\x04\0\0\0noteX\x05\0\0\0hello"s + "r" + u32(last) + "0j" + u32(last) + "u.";
  const auto file = read_bytes(bytes);
  EXPECT_EQ(file->extra(Owner::part, 0, "note"), "\"hello\"");
}

TEST(SnapshotOddity, BytesThatAreNotUtf8AreKept) {  // 12
  const std::string name = "caf\xe9 \xed\xa0\x80";
  const auto file = read(snapshot_of(
      {event("alloc", 1, 1).with("frames", Py::list({frame(name.c_str(), "a.py", 1)})).with("note", name)}));
  EXPECT_EQ(file->stack(file->recording.events.stack[0]), name + "@a.py:1");
  EXPECT_EQ(file->extra(Owner::event, 0, "note"),
            "\"caf\xef\xbf\xbd \xef\xbf\xbd\"");  // JSON text is always UTF-8
}

TEST(SnapshotOddity, FewZeroBytesAfterTheEndArePadding) {  // 13
  EXPECT_EQ(read_bytes(pickled(snapshot_of({})) + std::string(3, '\0'))->count(Diag::trailing_bytes), 0);
}

TEST(SnapshotOddity, DataAfterTheEndIsTold) {  // 13
  const std::string bytes = pickled(snapshot_of({}));
  for (const size_t chunk : {0, 1}) {
    const auto file = read_bytes(bytes + "more", {.chunk = chunk});
    EXPECT_EQ(file->count(Diag::trailing_bytes), 1);
    EXPECT_EQ(file->recording.diagnostics[Diag::trailing_bytes].first_offset,
              static_cast<int64_t>(bytes.size()));
  }
}

TEST(SnapshotOddity, PoolsAreTuplesOrLists) {  // 14
  const auto file =
      read(snapshot_of({event("alloc", 1, 1).with("pool_id", Py::tuple({0, 0})),
                        event("alloc", 1, 1).with("pool_id", Py::list({0, 3})),
                        event("alloc", 1, 1).with("pool_id", Py::tuple({UINT64_MAX, 0})),
                        event("alloc", 1, 1).with("pool_id", Py::tuple({-1, 0})), event("alloc", 1, 1)}));
  const model::EventTable& events = file->recording.events;
  EXPECT_EQ(events.pool[0].value, 0);
  EXPECT_EQ(file->recording.pools[events.pool[1].index()], (model::Pool{0, 3}));
  EXPECT_EQ(events.pool[2], events.pool[3]);
  EXPECT_TRUE(events.pool[4].is_none());
}

TEST(SnapshotOddity, MetadataMayBeTextOrDict) {  // 15
  const auto file = read(snapshot_of(
      {event("alloc", 1, 1).with("user_metadata", "two\nlines").with("compile_context", ""),
       event("alloc", 1, 1).with("user_metadata", Py::dict({{"rank", 3}})), event("alloc", 1, 1)}));
  const model::EventTable& events = file->recording.events;
  EXPECT_EQ(file->text(events.metadata[0]), "two\nlines");
  EXPECT_EQ(file->text(events.metadata[1]), R"({"rank":3})");
  EXPECT_TRUE(events.metadata[2].is_none());
  EXPECT_FALSE(events.context[0].is_none());
  EXPECT_TRUE(events.context[2].is_none());
}

TEST(SnapshotOddity, UnknownActionsStayInTheList) {  // 16
  const auto file = read(snapshot_of({event("alloc", 1, 1), event("teleport", 2, 2), event("teleport", 3, 3),
                                      Py::dict({{"action", "pause"}, {"size", 0}})}));
  ASSERT_EQ(file->recording.events.size_rows(), 4U);
  EXPECT_EQ(file->recording.action_name(file->recording.events.action[1]), "teleport");
  EXPECT_EQ(file->recording.action_name(file->recording.events.action[3]), "pause");
  EXPECT_EQ(file->count(Diag::unknown_action), 3);
}

TEST(SnapshotOddity, MoreUnknownActionsThanFitAreShownAsTheLastOne) {
  std::vector<Py> events;
  events.reserve(300);
  for (int i = 0; i < 300; ++i) events.push_back(event(fmt::format("a{}", i).c_str(), 1, 1));
  const auto file = read(snapshot_of(events));
  EXPECT_EQ(file->recording.action_name(file->recording.events.action[0]), "a0");
  EXPECT_EQ(file->recording.action_name(file->recording.events.action[299]), "a241");
}

TEST(SnapshotOddity, UnknownKeysAreKeptAsJsonText) {  // 16
  const Py unknown = Py::dict({{"a", Py::list({1, 2.5, "x", true, nullptr})}});
  const auto file = read(
      snapshot(
          {segment(4096, 512, {block(512, "inactive").with("in_block", unknown)}).with("in_segment", "text")},
          {Py::list({event("alloc", 1, 1).with("in_event", 5)})})
          .with("in_snapshot", Py::tuple({1, "two"})));
  EXPECT_EQ(file->extra(Owner::block, 0, "in_block"), R"({"a":[1,2.5,"x",true,null]})");
  EXPECT_EQ(file->extra(Owner::segment, 0, "in_segment"), "\"text\"");
  EXPECT_EQ(file->extra(Owner::event, 0, "in_event"), "5");
  EXPECT_EQ(file->extra(Owner::part, 0, "in_snapshot"), R"([1,"two"])");
  EXPECT_EQ(file->count(Diag::unknown_key), 4);
}

TEST(SnapshotOddity, RareKnownKeysAreKeptWithoutARemark) {  // 16
  const auto file = read(
      snapshot_of(
          {event("alloc", 1, 1).with("category", "gradient").with("forward_frames", Py::list({"a\n", "b"}))})
          .with("trace_alloc_overflowed", Py::list({true})));
  EXPECT_EQ(file->extra(Owner::event, 0, "category"), "\"gradient\"");
  EXPECT_EQ(file->extra(Owner::event, 0, "forward_frames"), "a\nb");
  EXPECT_EQ(file->extra(Owner::part, 0, "trace_alloc_overflowed"), "[true]");
  EXPECT_EQ(file->count(Diag::unknown_key), 0);
}

TEST(SnapshotOddity, TimesMayBeMissingOrZero) {  // 17
  const auto file = read(snapshot_of({event("alloc", 1, 1), event("alloc", 1, 1).with("time_us", 0)}));
  EXPECT_EQ(file->recording.events.time[0], kNoTime);
  EXPECT_EQ(file->recording.events.time[1], 0);
}

TEST(SnapshotOddity, TraceOfOneEventIsWrittenWithoutAMark) {  // 19
  const auto file = read(snapshot_of({event("alloc", 4096, 512)}));
  EXPECT_EQ(file->recording.parts[0].events_of(0).count, 1);
}

TEST(SnapshotOddity, TracesMayBeTuplesOfEventsInProtocol0) {
  // There a container is put below its members, after the dict under it was completed.
  const Py traces =
      Py::tuple({event("alloc", 1, 1), event("alloc", 2, 2), event("alloc", 3, 3), event("alloc", 4, 4)});
  const Py snapshot = Py::dict({{"segments", Py::list({})}, {"device_traces", Py::list({traces})}});
  for (const Writer writer : {Writer::protocol0, Writer::protocol1, Writer::protocol4}) {
    const auto file = read(snapshot, writer);
    EXPECT_EQ(file->recording.events.size_rows(), 4U);
    EXPECT_EQ(file->count(Diag::damaged), 0);
  }
}

TEST(SnapshotOddity, LongLinesAreReadAlikeInChunksOfAnySize) {
  for (const char* start : {"I", "L", "V", "S'"}) {
    const Py line = Py::opcodes(start + std::string(5000, '7') + (start[0] == 'S' ? "'\n" : "\n"));
    const std::string bytes = pickled(snapshot_of({event("alloc", 1, 2)}).with("unknown", line));
    const std::string whole = text_of(*read_bytes(bytes));
    for (const size_t chunk : {1, 4096, 4097, 4900}) {
      EXPECT_EQ(text_of(*read_bytes(bytes, {.chunk = chunk})), whole) << start << ", chunks of " << chunk;
    }
  }
}

}  // namespace
}  // namespace gpustrata::tests
