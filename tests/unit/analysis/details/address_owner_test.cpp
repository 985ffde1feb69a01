// Whose an address is, on stories small enough to work out by hand.
#include "engine/analysis/details/address_owner.h"

#include <gmock/gmock.h>

#include "engine/answers/details/address_owner.h"
#include "engine/answers/text/json_of.h"
#include "tests/unit/analysis/opened_story.h"

namespace gpustrata::analysis {
namespace {

using model::BlockState;
using testing::HasSubstr;
using testing::Not;
using trace::Action;

constexpr uint64_t kSegment = 0x10000;  // 2 MiB

// event
// 0  the segment
// 1  A, 1,000 bytes in 1,024 at its start, by attend      6  B, 512 bytes behind it, by mlp
// 2  A's free is requested, by drop                       7  B's free is requested, by drop
// 3  and completed                                        8  an alloc of C, behind B, by mlp: 512 bytes
// 4  D, 300 bytes in 512 where A was, by attend           9  B's free is completed, in a call of somebody else
// 5  a segment at 0x900000, gone with event 10            10 segment_free
void tell(Story& story, bool with_stacks_of_frees = true) {
  const auto drop = [&] { return with_stacks_of_frees ? "drop" : "attend"; };
  story.event(Action::segment_alloc, kSegment, 2 << 20);
  story.alloc(kSegment, 1000).frames({"attend"}).pool(1, 0).stream(7);
  story.request(kSegment, 1000).frames({drop()});
  story.complete(kSegment, 1000).frames({drop()});
  story.alloc(kSegment, 300).frames({"attend"});
  story.event(Action::segment_alloc, 0x900000, 2 << 20);
  story.alloc(kSegment + 1024, 512).frames({"mlp"});
  story.request(kSegment + 1024, 512).frames({drop()});
  story.alloc(kSegment + 1536, 512).frames({"mlp"});
  story.complete(kSegment + 1024, 512).frames({"other"});
  story.event(Action::segment_free, 0x900000, 2 << 20);
  story.segment(kSegment, 2 << 20);
  story.segment_pool(1, 0);
  story.block(kSegment, 512, 300, BlockState::active_allocated);
  story.block(kSegment + 512, 1024, 0, BlockState::inactive);
  story.block(kSegment + 1536, 512, 512, BlockState::active_allocated);
  story.block(kSegment + 2048, (2 << 20) - 2048, 0, BlockState::inactive);
}

class AddressesTold : public testing::Test {
 protected:
  explicit AddressesTold(bool with_stacks_of_frees = true) {
    tell(story_, with_stacks_of_frees);
    opened_ = std::make_unique<OpenedStory>(story_);
  }
  [[nodiscard]] AddressOwner owner(uint64_t address, int32_t event) const {
    return find_owner(opened_->context(), opened_->after(event), address);
  }
  [[nodiscard]] std::string json(uint64_t address, int32_t event) const {
    return answers::json_of(opened_->context(), owner(address, event));
  }
  [[nodiscard]] std::string who(StackId stack) const {
    return std::string(who_of(opened_->recording, stack).name);
  }

  Story story_;
  std::unique_ptr<OpenedStory> opened_;
};

class AddressOwnerTest : public AddressesTold {};

TEST_F(AddressOwnerTest, AnyByteOfABlockHasItsHolder) {
  for (const int64_t offset : {0, 999, 1023}) {
    const AddressOwner found = owner(kSegment + static_cast<uint64_t>(offset), 1);
    ASSERT_TRUE(found.holder);
    EXPECT_EQ(found.holder->offset, offset);
    EXPECT_EQ(found.holder->block.events.alloc, 1);
    EXPECT_EQ(found.holder->is_rounding(), offset >= 1000);
    ASSERT_TRUE(found.segment);
    EXPECT_EQ(found.segment->segment.address, kSegment);
    EXPECT_FALSE(found.below || found.above);
  }
}

TEST_F(AddressOwnerTest, WhoHadItBeforeAndAfterAndWhoFreedIt) {
  const AddressOwner now = owner(kSegment + 8, 3);  // freed, not yet given to D
  EXPECT_FALSE(now.holder);
  ASSERT_TRUE(now.free);
  EXPECT_EQ(now.free->address, kSegment);
  EXPECT_EQ(now.free->size, 2 << 20);
  ASSERT_EQ(now.before.size(), 1U);
  EXPECT_EQ(now.before[0].block.events.free_requested, 2);
  EXPECT_EQ(now.before[0].block.events.free_completed, 3);
  EXPECT_EQ(who(now.before[0].allocated_by), "attend");
  EXPECT_EQ(who(now.before[0].freed_by), "drop");
  ASSERT_EQ(now.after.size(), 1U);
  EXPECT_EQ(now.after[0].block.events.alloc, 4);
  EXPECT_TRUE(now.after[0].freed_by.is_none());
  EXPECT_THAT(json(kSegment + 8, 3),
              HasSubstr(R"(Before: block b'10000_0, 1.0 KiB (1,024 bytes), allocated at event 1 by attend )"
                        R"(file.py:1, freed at event 2 by drop file.py:1.)"));
}

TEST_F(AddressOwnerTest, ABlockWhoseFreeIsNotCompletedStillHoldsIt) {
  const AddressOwner found = owner(kSegment + 1030, 8);
  ASSERT_TRUE(found.holder);
  EXPECT_EQ(found.holder->block.state, BlockState::active_pending_free);
  EXPECT_EQ(who(found.holder->freed_by), "drop");  // not whoever made the allocator look at event 9
  EXPECT_THAT(json(kSegment + 1030, 7), HasSubstr("Its free was requested before but is not completed"));
  EXPECT_THAT(json(kSegment + 1030, 8),
              HasSubstr("free requested at event 7 by drop file.py:1, and completed at event 9."));
}

TEST_F(AddressOwnerTest, WithoutAHolderTheNearestBlocksOfTheSegment) {
  const AddressOwner found = owner(kSegment + 1024, 10);  // D ends at 512, C begins at 1,536
  EXPECT_FALSE(found.holder);
  ASSERT_TRUE(found.below && found.above);
  EXPECT_EQ(found.below->address, kSegment);
  EXPECT_EQ(found.below->distance, 513);
  EXPECT_EQ(found.above->address, kSegment + 1536);
  EXPECT_EQ(found.above->distance, 512);
  EXPECT_EQ(owner(kSegment + 512, 10).below->distance, 1);  // right behind it
}

TEST_F(AddressOwnerTest, OutsideOfSegmentsTheNearestSegmentAndTheOneThatHadIt) {
  const AddressOwner gone = owner(0x900000, 10);
  EXPECT_FALSE(gone.holder || gone.segment);
  ASSERT_TRUE(gone.segment_before);
  EXPECT_EQ(gone.segment_before->begin, 5);
  EXPECT_EQ(gone.segment_before->end, 10);
  EXPECT_TRUE(gone.is_known());
  ASSERT_TRUE(gone.below);
  EXPECT_TRUE(gone.below->is_segment);
  EXPECT_EQ(gone.below->distance, static_cast<int64_t>(0x900000 - kSegment - (2 << 20) + 1));
  EXPECT_THAT(json(0x900000, 10), HasSubstr("had it from event 5 until event 10 (segment_free)."));

  const AddressOwner never = owner(kSegment - 1, 10);
  EXPECT_FALSE(never.is_known());
  ASSERT_TRUE(never.above);
  EXPECT_EQ(never.above->distance, 1);
  EXPECT_EQ(never.distance(), 1);
  EXPECT_EQ(owner(UINT64_MAX, 10).distance(), INT64_MAX);  // further than a number of bytes can say
  EXPECT_EQ(owner(kSegment, 10).distance(), 0);
}

TEST_F(AddressOwnerTest, PrivatePoolsAreNamed) {
  EXPECT_THAT(json(kSegment, 1), HasSubstr("stream 1, private pool (1, 0)."));
  EXPECT_THAT(json(kSegment, 1), HasSubstr("a graph that is replayed uses the addresses of its capture"));
}

TEST_F(AddressOwnerTest, WhatWasBeforeTheRecordingIsNotKnown) {
  const AddressOwner found = owner(kSegment, -1);
  EXPECT_FALSE(found.holder || found.segment);
  EXPECT_THAT(json(kSegment + 1536, 8), HasSubstr("what was before its first event is not known."));
}

class StacksOfTheAlloc : public AddressesTold {
 protected:
  StacksOfTheAlloc() : AddressesTold(false) {}
};

TEST_F(StacksOfTheAlloc, AreNotTakenForWhoFreed) {
  const AddressOwner found = owner(kSegment, 3);
  ASSERT_EQ(found.before.size(), 1U);
  EXPECT_TRUE(found.before[0].freed_by.is_none());
  EXPECT_THAT(json(kSegment, 3), HasSubstr("freed at event 2, by whom is not recorded."));
}

TEST(AddressOwnerOfAState, SaysThatThereIsNoHistory) {
  Story story;
  story.segment(kSegment, 4096);
  story.block(kSegment, 1024, 1000, BlockState::active_allocated);
  story.block_frames({"load"});
  const OpenedStory opened(story);
  const AddressOwner found = find_owner(opened.context(), opened.after(-1), kSegment + 1);
  ASSERT_TRUE(found.holder);
  EXPECT_EQ(who_of(opened.recording, found.holder->allocated_by).name, "load");
  const std::string json = answers::json_of(opened.context(), found);
  EXPECT_THAT(json, HasSubstr("It was allocated before the first event by load file.py:1, not freed in the "
                              "recording."));
  EXPECT_THAT(json, HasSubstr("The file has no history: who had it before is not known."));
}

TEST(AddressOwnerOfAnExpandableSegment, IsThePieceThatWasMappedWithIt) {
  Story story;
  story.event(Action::segment_map, kSegment, 0x8000);
  story.event(Action::segment_map, kSegment + 0x8000, 0x8000);
  story.event(Action::segment_unmap, kSegment + 0x8000, 0x8000);
  story.segment(kSegment, 0x8000);
  story.recording.segments.expandable.back() = model::Tristate::yes;
  story.block(kSegment, 0x8000, 0, BlockState::inactive);
  const OpenedStory opened(story);
  const auto at = [&](int32_t event) {
    return find_owner(opened.context(), opened.after(event), kSegment + 0x9000);
  };
  const AddressOwner mapped = at(1);
  ASSERT_TRUE(mapped.segment);
  EXPECT_EQ(mapped.segment->begin, 1);
  EXPECT_EQ(mapped.segment->segment.size, 0x10000);
  const AddressOwner unmapped = at(2);
  EXPECT_FALSE(unmapped.segment);
  ASSERT_TRUE(unmapped.segment_before && unmapped.below);
  EXPECT_EQ(unmapped.segment_before->end_action, Action::segment_unmap);
  EXPECT_EQ(unmapped.below->distance, 0x1001);
}

TEST(AddressInAText, IsHexadecimalOrDecimal) {
  EXPECT_EQ(address_in("0x7f3c00001200"), 0x7f3c00001200U);
  EXPECT_EQ(address_in("0X7F3C"), 0x7f3cU);
  EXPECT_EQ(address_in("65536"), 0x10000U);
  EXPECT_EQ(address_in("0xffffffffffffffff"), UINT64_MAX);
  for (const char* wrong :
       {"", "0x", "7f3c", "-1", "+1", " 1", "1 ", "0x1ffffffffffffffff", "18446744073709551616"})
    EXPECT_EQ(address_in(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace gpustrata::analysis
