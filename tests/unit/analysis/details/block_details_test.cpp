#include "engine/analysis/details/block_details.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/analysis/device/block_name.h"
#include "engine/answers/details/block_details.h"
#include "engine/answers/text/json_of.h"
#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using model::BlockState;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string details(Story& story, int32_t rank) {
  EXPECT_TRUE(story.stored());
  story.recording.seal();
  auto lifetimes = story.lifetimes();
  EXPECT_TRUE(lifetimes.has_value());
  EXPECT_LT(rank, lifetimes->count());
  const auto index = index_device(story.recording, story.recording.parts[0], *lifetimes);
  EXPECT_TRUE(index.has_value());
  return answers::json_of(story.recording, block_details(story.recording, *lifetimes, *index, rank));
}

TEST(BlockDetails, NameIsTheAddressInHexAndTheVersion) {
  EXPECT_EQ(block_name(0x7f064c000000, 2), "b'7f064c000000_2");
}

TEST(BlockDetails, ATracedBlockHasBothEndsAndTheTotalAfterIt) {
  Story story;
  story.alloc(kBase, 100).time(1000);
  story.alloc(kBase + 512, 30).time(1010).frames({"leaf", "main"});
  story.request(kBase + 512, 30).time(1020);
  story.alloc(kBase + 1024, 7).time(1025);
  story.complete(kBase + 512, 30).time(1030);
  EXPECT_THAT(
      details(story, 1),
      AllOf(
          HasSubstr(
              R"("rank":1,"name":"b'7f064c000200_0","address":"0x7f064c000200","version":0,"kind":"traced")"),
          HasSubstr(R"("requested_size":30,"block_size":null,"state":null)"),
          HasSubstr(R"("born_event":1,"free_requested_event":2,"freed_event":4)"),
          HasSubstr(R"("born_time_us":1010,"freed_time_us":1030,"lifetime_events":3,"lifetime_us":20)"),
          HasSubstr(R"("total_after":130)"), HasSubstr(R"("stack_of":"alloc")"),
          HasSubstr(
              R"({"text":"file.py:1:leaf","name":"leaf","file":"file.py","line":1,"repeats":1,"hidden":false,"own":true,"fx":[]})"),
          HasSubstr(R"("no_stack_reasons":[])")));
}

TEST(BlockDetails, TheFinalStateTellsBlockSizeAndState) {
  Story story;
  story.segment(kBase, 2048);
  story.block(kBase, 1024, 1000, BlockState::active_allocated);
  story.block(kBase + 1024, 1024, 1000, BlockState::active_pending_free);
  story.alloc(kBase, 1000);
  story.alloc(kBase + 1024, 1000);
  story.request(kBase + 1024, 1000);
  story.complete(1, 1);  // or free_requested alone would be the free
  EXPECT_THAT(details(story, 1), AllOf(HasSubstr(R"("block_size":1024,"state":"active_allocated")"),
                                       HasSubstr(R"("free_requested_event":null,"freed_event":null)"),
                                       HasSubstr(R"("lifetime_events":4,"lifetime_us":null)")));
  EXPECT_THAT(details(story, 2), AllOf(HasSubstr(R"("state":"active_pending_free")"),
                                       HasSubstr(R"("free_requested_event":2,"freed_event":null)")));
}

TEST(BlockDetails, AReusedAddressShowsItsOwnLife) {
  Story story;
  story.alloc(kBase, 1).frames({"first"});
  story.request(kBase, 1);
  story.complete(kBase, 1);
  story.alloc(kBase, 2).frames({"second"});
  story.request(kBase, 2);
  story.complete(kBase, 2);
  EXPECT_THAT(details(story, 0), AllOf(HasSubstr("first"), Not(HasSubstr("second")), HasSubstr("_0\""),
                                       HasSubstr(R"("free_requested_event":1,"freed_event":2)")));
  EXPECT_THAT(details(story, 1), AllOf(HasSubstr("second"), Not(HasSubstr("first")), HasSubstr("_1\""),
                                       HasSubstr(R"("free_requested_event":4,"freed_event":5)")));
}

TEST(BlockDetails, AFreeThatRepeatsAllocStacksShowsWhereTheBlockWasAllocated) {
  // Level "alloc": the pair of kBase proves that frees carry the stack of the allocation.
  Story story;
  story.request(kBase + 512, 5).frames({"made here"});
  story.complete(kBase + 512, 5).frames({"made here"});
  story.alloc(kBase, 1).frames({"other"});
  story.request(kBase, 1).frames({"other"});
  story.complete(kBase, 1).frames({"other"});
  EXPECT_THAT(details(story, 0), AllOf(HasSubstr(R"("kind":"freed_only")"), HasSubstr("made here"),
                                       HasSubstr(R"("stack_of":"alloc")")));
}

TEST(BlockDetails, AFreeWithItsOwnStackIsCalledAFree) {
  // Level "all": the alloc and the free of kBase differ.
  Story story;
  story.request(kBase + 512, 5).frames({"freed here"});
  story.complete(kBase + 512, 5).frames({"freed here"});
  story.alloc(kBase, 1).frames({"other"});
  story.request(kBase, 1).frames({"del"});
  story.complete(kBase, 1).frames({"del"});
  EXPECT_THAT(details(story, 0),
              AllOf(HasSubstr("freed here"), HasSubstr(R"("stack_of":"free")"),
                    HasSubstr(R"("born_event":-1,"free_requested_event":0,"freed_event":1)"),
                    HasSubstr(R"("total_after":null)")));
}

TEST(BlockDetails, AnAllocWithoutStackTakesThatOfTheBlock) {
  Story story;
  story.segment(kBase, 512);
  story.block(kBase, 512, 9, BlockState::active_allocated);
  story.block_frames({"of the block"});
  story.alloc(kBase, 9);
  EXPECT_THAT(details(story, 0), AllOf(HasSubstr("of the block"), HasSubstr(R"("stack_of":"block")")));
}

TEST(BlockDetails, StreamsAreNumberedByFirstAppearanceInTheTrace) {
  Story story;
  story.segment(kBase, 512);
  story.segment_stream(333);  // the reader saw this handle first, but the trace counts first
  story.alloc(kBase, 1).stream(0);
  story.alloc(kBase + 512, 1).stream(-2);
  story.alloc(kBase + 1024, 1).stream(222);
  EXPECT_THAT(details(story, 0), HasSubstr(R"("stream":0,"stream_handle":"0")"));
  EXPECT_THAT(details(story, 1), HasSubstr(R"("stream":1,"stream_handle":"0xfffffffffffffffe")"));
  EXPECT_THAT(details(story, 2), HasSubstr(R"("stream":2,"stream_handle":"0xde")"));
}

TEST(BlockDetails, ThePoolComesFromTheEventOrElseFromTheSegment) {
  Story story;
  story.segment(kBase, 1024);
  story.segment_pool(0, 7);
  story.alloc(kBase, 1).pool(-1, 0);
  story.alloc(kBase + 512, 1);
  story.alloc(kBase + 4096, 1);
  EXPECT_THAT(details(story, 0), HasSubstr(R"("pool":[18446744073709551615,0],"pool_from":"event")"));
  EXPECT_THAT(details(story, 1), HasSubstr(R"("pool":[0,7],"pool_from":"segment")"));
  EXPECT_THAT(details(story, 2), HasSubstr(R"("pool":null,"pool_from":null)"));
}

TEST(BlockDetails, AnnotationsBelongToTheBlockThatWasOpen) {
  Story story;
  story.alloc(kBase, 1);
  story.annotate(kBase, "one");
  story.annotate(kBase + 512, "elsewhere");
  story.annotate(kBase, "two");
  story.request(kBase, 1);
  story.complete(kBase, 1);
  story.annotate(kBase, "too late");
  EXPECT_THAT(details(story, 0), HasSubstr(R"("annotations":["one","two"])"));
}

TEST(BlockDetails, TextsThatSayNothingAreNull) {
  Story story;
  story.alloc(kBase, 1).context("N/A").metadata("");
  story.alloc(kBase + 512, 1)
      .context("Torch-Compiled Region: 0/0")
      .metadata("{\"step\":3}")
      .extra("category", "gradient");
  EXPECT_THAT(details(story, 0), HasSubstr(R"("compile_context":null,"user_metadata":null)"));
  EXPECT_THAT(details(story, 1), AllOf(HasSubstr(R"("compile_context":"Torch-Compiled Region: 0/0")"),
                                       HasSubstr(R"("user_metadata":"{\"step\":3}")"),
                                       HasSubstr(R"("extras":{"category":"gradient"})")));
}

TEST(BlockDetails, WhatTheFreeSaysIsNotShownAsTheBlocksOwn) {
  Story story;
  story.request(kBase, 1).metadata("at the free");
  story.complete(kBase, 1);
  EXPECT_THAT(details(story, 0), AllOf(HasSubstr(R"("user_metadata":null)"),
                                       HasSubstr(R"("user_metadata of the free":"at the free")")));
}

TEST(BlockDetails, ForwardFramesAreJoinedText) {
  Story story;
  story.alloc(kBase, 1).extra("forward_frames", "  File a\n    y\n");
  EXPECT_THAT(details(story, 0),
              AllOf(HasSubstr(R"("forward_frames":"  File a\n    y\n")"), HasSubstr(R"("extras":{})")));
}

TEST(BlockDetails, NoStackReasonsSayWhatThisRecordingTells) {
  Story without;  // key absent everywhere
  without.alloc(kBase, 1);
  EXPECT_THAT(details(without, 0),
              AllOf(HasSubstr("No event of this device has a stack"), HasSubstr(R"("stack_of":null)")));

  Story empty;
  empty.alloc(kBase, 1).frames({});
  empty.alloc(kBase + 512, 1).frames({"f"});
  EXPECT_THAT(details(empty, 0),
              AllOf(HasSubstr("holds no frames"), HasSubstr("backward"), Not(HasSubstr("No event of"))));

  Story mixed;
  mixed.alloc(kBase, 1);
  mixed.alloc(kBase + 512, 1).frames({"f"});
  EXPECT_THAT(details(mixed, 0), HasSubstr("other events have one"));

  Story older;
  older.segment(kBase, 512).block(kBase, 512, 9, BlockState::active_allocated);
  older.block_frames({});
  older.alloc(kBase + 512, 1).frames({"f"});
  EXPECT_THAT(details(older, 0),
              AllOf(HasSubstr(R"("kind":"final_only")"), HasSubstr("before the first event"),
                    HasSubstr("list of frames is empty")));

  Story no_history;
  no_history.segment(kBase, 512).block(kBase, 512, 9, BlockState::active_allocated);
  EXPECT_THAT(details(no_history, 0),
              AllOf(HasSubstr("no history"), Not(HasSubstr("before the first event"))));
}

TEST(BlockDetails, ABlockEndedByALaterAllocHasNoStackOfThatAlloc) {
  Story story;
  story.alloc(kBase, 1);
  story.alloc(kBase, 2).frames({"next owner"});
  EXPECT_THAT(details(story, 0), AllOf(HasSubstr(R"("freed_event":1)"), Not(HasSubstr("next owner"))));
}

TEST(BlockDetails, LongTextsAreCut) {
  Story story;
  const std::string note(size_t{1} << 20, 'n');
  story.alloc(kBase, 1).frames({"f" + note}).metadata("m" + note).extra("k" + note, note);
  story.annotate(kBase, note);
  const std::string text = details(story, 0);
  EXPECT_LT(text.size(), 200'000u);
  EXPECT_THAT(text, AllOf(HasSubstr("mnnn"), HasSubstr("fnnn"), HasSubstr("knnn"), HasSubstr("nnn…")));
}

TEST(BlockDetails, LongListsEndWithACount) {
  Story story;
  std::vector<FrameId> frames;
  for (int32_t line = 1; line <= 4000; ++line) frames.push_back(story.frame("f", "a.py", line));
  story.alloc(kBase, 1);
  story.recording.events.stack.back() = story.recording.stacks.intern(frames);
  for (int i = 0; i < 1500; ++i) story.extra("k" + std::to_string(i), "v");
  for (int i = 0; i < 1234; ++i) story.annotate(kBase, "n");
  EXPECT_THAT(
      details(story, 0),
      AllOf(
          HasSubstr(R"("annotations_left_out":234,"extras_left_out":500,"frames_left_out":3000)"),
          HasSubstr(R"("n","… 234 more"])"), HasSubstr(R"("k999":"v","… 500 more":""})"),
          HasSubstr(
              R"({"text":"… 3,000 more","name":"","file":"","line":0,"repeats":1,"hidden":false,"own":false,"fx":[]}])")));
}

TEST(BlockDetails, TheAnswerIsBoundedWhateverTheFileHolds) {
  // Every text is as long as a list's entry may be, and every byte of it takes six in JSON.
  Story story;
  const std::string note(5000, '\x01');
  std::vector<FrameId> frames;
  for (int32_t line = 1; line <= 3000; ++line) frames.push_back(story.frame(note, note, line));
  story.alloc(kBase, 1).metadata(note);
  story.recording.events.stack.back() = story.recording.stacks.intern(frames);
  for (int i = 0; i < 3000; ++i) story.extra("k" + std::to_string(i), note);
  for (int i = 0; i < 3000; ++i) story.annotate(kBase, note);
  EXPECT_LT(details(story, 0).size(), size_t{4} << 20);
}

TEST(BlockDetails, FramesThatAreOneLineAreNotLeftOut) {
  Story story;
  story.alloc(kBase, 1).frames({"f", "f", "f", "f", "g"});
  EXPECT_THAT(details(story, 0), AllOf(HasSubstr(R"("repeats":4)"), HasSubstr(R"("frames_left_out":0)")));
}

}  // namespace
}  // namespace gpustrata::analysis
