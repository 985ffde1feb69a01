#include "engine/analysis/filters/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"
#include "tests/unit/processor_limit.h"

namespace gpustrata::analysis {
namespace {

using model::BlockState;
using Ranks = std::vector<int32_t>;

class Search : public ::testing::Test {
 protected:
  Ranks find(SearchIn where, std::string_view text) {
    EXPECT_TRUE(story.stored());
    auto lifetimes = story.lifetimes();
    EXPECT_TRUE(lifetimes.has_value());
    auto found = search(story.recording, story.recording.parts[0], *lifetimes, where, text);
    EXPECT_TRUE(found.has_value());
    EXPECT_EQ(found->matched.size(), static_cast<size_t>(lifetimes->count()));
    bytes = found->bytes;
    Ranks ranks(found->ranks.begin(), found->ranks.end()), lit;
    for (int32_t rank = 0; rank < lifetimes->count(); ++rank) {
      if (found->matched[static_cast<size_t>(rank)] != 0) lit.push_back(rank);
    }
    EXPECT_EQ(lit, ranks);
    return ranks;
  }

  Story story;
  int64_t bytes = 0;
};

TEST_F(Search, EmptyTextMatchesNothing) {
  story.alloc(kBase, 1);
  EXPECT_EQ(find(SearchIn::anything, ""), Ranks{});
}

TEST_F(Search, AddressesAreFoundInEveryFormPeopleType) {
  story.alloc(kBase, 5);
  story.alloc(0x7f0000000000, 6);
  for (const char* text :
       {"7f064c000000", "0x7f064c", "0X7F064C", "b7f064c", "b'7f064c000000_0", "B'7F064C", "64c000"}) {
    EXPECT_EQ(find(SearchIn::address, text), Ranks{0}) << text;
    EXPECT_EQ(bytes, 5);
  }
  EXPECT_EQ(find(SearchIn::address, "7f"), (Ranks{0, 1}));
}

TEST_F(Search, APrefixedAddressMustBeginSo) {
  story.alloc(kBase, 1);
  EXPECT_EQ(find(SearchIn::address, "0x64c"), Ranks{});
  EXPECT_EQ(find(SearchIn::address, "64c"), Ranks{0});
}

TEST_F(Search, TheVersionTellsReusesApart) {
  story.alloc(kBase, 1);
  story.complete(kBase, 1);
  story.alloc(kBase, 1);
  EXPECT_EQ(find(SearchIn::address, "_1"), Ranks{1});
}

TEST_F(Search, FramesAreFoundAnywhereInTheStack) {
  story.alloc(kBase, 3).frames({"leaf", "Layer.forward", "main"});
  story.alloc(kBase + 512, 4).frames({"leaf", "backward", "main"});
  EXPECT_EQ(find(SearchIn::frame, "layer.FORWARD"), Ranks{0});
  EXPECT_EQ(find(SearchIn::frame, "file.py:1:main"), (Ranks{0, 1}));
  EXPECT_EQ(bytes, 7);
  EXPECT_EQ(find(SearchIn::address, "backward"), Ranks{});
  EXPECT_EQ(find(SearchIn::anything, "backward"), Ranks{1});
}

TEST_F(Search, HiddenFramesAreNotSearched) {
  story.alloc(kBase, 1).frames({"_PyEval_EvalFrameDefault", "f"});
  EXPECT_EQ(find(SearchIn::frame, "PyEval"), Ranks{});
}

TEST_F(Search, BlocksWithoutAnAllocAreFoundByTheStackThatIsShown) {
  story.segment(kBase, 1024);
  story.block(kBase, 512, 9, BlockState::active_allocated);
  story.block_frames({"final only"});
  story.block(kBase + 512, 512, 9, BlockState::active_allocated);
  story.block_frames({"of the block"});
  story.request(kBase + 4096, 1).frames({"of the free"});
  story.complete(kBase + 4096, 1).frames({"of the free"});
  story.alloc(kBase + 512, 9);  // no stack of its own
  // Ranks: 0 final block, 1 freed, 2 the alloc.
  EXPECT_EQ(find(SearchIn::frame, "final only"), Ranks{0});
  EXPECT_EQ(find(SearchIn::frame, "of the free"), Ranks{1});
  EXPECT_EQ(find(SearchIn::frame, "of the block"), Ranks{2});
}

TEST_F(Search, TheStackOfTheFreeIsNotSearchedIfThereIsABetterOne) {
  story.alloc(kBase, 1).frames({"alloc"});
  story.request(kBase, 1).frames({"del"});
  story.complete(kBase, 1).frames({"del"});
  EXPECT_EQ(find(SearchIn::frame, "del"), Ranks{});
}

TEST_F(Search, MetadataMeansContextUserTextAndAnnotations) {
  story.alloc(kBase, 1).metadata("Step 3");
  story.alloc(kBase + 512, 1).context("Torch-Compiled Region: 0/0");
  story.alloc(kBase + 1024, 1);
  story.annotate(kBase + 1024, "weights");
  story.request(kBase + 1024, 1);
  story.complete(kBase + 1024, 1);
  story.alloc(kBase + 1024, 1);  // the next owner of the address is not annotated
  EXPECT_EQ(find(SearchIn::metadata, "step 3"), Ranks{0});
  EXPECT_EQ(find(SearchIn::metadata, "compiled"), Ranks{1});
  EXPECT_EQ(find(SearchIn::metadata, "WEIGHTS"), Ranks{2});
  EXPECT_EQ(find(SearchIn::frame, "weights"), Ranks{});
}

TEST_F(Search, FxDataOfAFrameIsSearched) {
  const FrameId frame = story.recording.frames.intern({story.text("f"), story.text("gen.py"), 1, -1},
                                                      {{}, story.text("addmm_3"), {}, {}});
  story.alloc(kBase, 1);
  story.recording.events.stack.back() = story.recording.stacks.intern(std::vector<FrameId>{frame});
  EXPECT_EQ(find(SearchIn::frame, "node=ADDMM_3"), Ranks{0});
}

TEST_F(Search, FrameTextsMaySpanFileLineAndName) {
  story.alloc(kBase, 1).frames({"at::add"});
  for (const char* text : {"e.py:1", "PY:1:AT", ":1:", "1:at::a", "file.py:1:at::add", "1", "::"}) {
    EXPECT_EQ(find(SearchIn::frame, text), Ranks{0}) << text;
  }
  for (const char* text : {"e.py:2", "py1", "1at", "add:", ":file", "file.py:1:at::add "}) {
    EXPECT_EQ(find(SearchIn::frame, text), Ranks{}) << text;
  }
}

TEST_F(Search, ALongNameOfManyFramesIsLookedAtOnce) {
  // 100,000 frames share a name of 1 MiB: 100 GB if each were looked at.
  const StringId name = story.text(std::string(size_t{1} << 20, 'A')), file = story.text("a.py");
  std::vector<FrameId> frames;
  for (int32_t line = 1; line <= 100'000; ++line)
    frames.push_back(story.recording.frames.intern({name, file, line, -1}));
  story.alloc(kBase, 1);
  story.recording.events.stack.back() = story.recording.stacks.intern(frames);
  const tests::ProcessorLimit limit;
  EXPECT_EQ(find(SearchIn::frame, "zzz"), Ranks{});
  EXPECT_EQ(find(SearchIn::frame, "99999:aaa"), Ranks{0});
}

TEST_F(Search, MetadataIsThatOfTheDetails) {
  story.segment(kBase, 4096);
  story.block(kBase, 512, 9, BlockState::active_allocated);
  story.recording.blocks.metadata.back() = story.text("hello");
  story.request(kBase + 512, 1).metadata("note of the free").context("region of the free");
  story.complete(kBase + 512, 1);
  story.alloc(kBase, 9).extra("category", "gradient").extra("forward_frames", "Linear.forward");
  story.alloc(kBase + 1024, 9).context("N/A");
  story.recording.seal();
  // Ranks: 0 freed, 1 traced and in the final state, 2 traced only.
  EXPECT_EQ(find(SearchIn::metadata, "hello"), Ranks{1});
  EXPECT_EQ(find(SearchIn::metadata, "note of the free"), Ranks{0});
  EXPECT_EQ(find(SearchIn::metadata, "region"), Ranks{0});
  EXPECT_EQ(find(SearchIn::metadata, "gradient"), Ranks{1});
  EXPECT_EQ(find(SearchIn::metadata, "category"), Ranks{1});
  EXPECT_EQ(find(SearchIn::metadata, "N/A"), Ranks{});
  EXPECT_EQ(find(SearchIn::metadata, "Linear"), Ranks{});
  EXPECT_EQ(find(SearchIn::frame, "linear.forward"), Ranks{1});
}

}  // namespace
}  // namespace gpustrata::analysis
