// MemoryState under random actions: the invariants hold after every step, and taking the steps back one by
// one gives every earlier state again (blocks, current values and sums of the statistics).
#include "engine/alloc/memory_state.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "engine/alloc/invariants.h"

namespace gpustrata::alloc {
namespace {

std::string picture(const MemoryState& state) {
  std::string text;
  for (const SegmentId id : state.segments()) {
    const Segment& segment = state.segment(id);
    text += fmt::format("\n{:x}+{} @{} {}{}:", segment.address, segment.size, segment.stream,
                        segment.small ? "S" : "L", segment.expandable ? "x" : "");
    for (BlockId i = segment.first; !i.is_none(); i = state.block(i).next) {
      const Block& block = state.block(i);
      text += fmt::format(" {}{}", block.mapped ? "AP-"[static_cast<int>(block.state)] : '.', block.size);
      if (block.is_active()) text += fmt::format("/{}s{}", block.requested_size, block.stack.value);
    }
  }
  for (const PoolStatName& row : kPoolStats) {
    const PoolStat& stat = state.stats().*row.stat;
    for (const Stat& one : {stat.all(), stat.small_pool(), stat.large_pool()})
      text += fmt::format(" {}/{}/{}", one.current, one.allocated, one.freed);
  }
  return text;
}

class Walk {
 public:
  Walk(uint64_t seed, Lookup lookup) : state_(budget_, lookup), random_(seed) {}

  // A random action; how to take it back is remembered.
  void step() {
    const std::string before = picture(state_);
    std::function<void()> undo;
    switch (below(8)) {
      case 0:
        undo = add_segment();
        break;
      case 1:
        undo = remove_segment();
        break;
      case 2:
        undo = map();
        break;
      case 3:
        undo = unmap();
        break;
      case 4:
      case 5:
        undo = alloc();
        break;
      case 6:
        undo = request_free();
        break;
      default:
        undo = complete_free();
    }
    ASSERT_EQ(check_invariants(state_), "");
    if (undo) history_.push_back({before, undo});
  }
  void take_back_all() {
    while (!history_.empty()) {
      history_.back().undo();
      ASSERT_EQ(check_invariants(state_), "");
      ASSERT_EQ(picture(state_), history_.back().before);
      history_.pop_back();
    }
  }

 private:
  struct Past {
    std::string before;
    std::function<void()> undo;
  };

  uint64_t below(uint64_t n) { return random_() % n; }
  // A random block that fits, or none.
  template <typename Fits>
  BlockId pick(Fits&& fits) {
    std::vector<BlockId> found;
    for (const SegmentId id : state_.segments()) {
      for (BlockId i = state_.segment(id).first; !i.is_none(); i = state_.block(i).next) {
        if (fits(state_.block(i))) found.push_back(i);
      }
    }
    return found.empty() ? BlockId() : found[below(found.size())];
  }

  std::function<void()> add_segment() {
    SegmentInfo info;
    info.address = next_address_ + below(3) * 4096;
    info.small = below(2) == 0;
    info.expandable = below(2) == 0;
    info.size = static_cast<int64_t>(1 + below(64)) * 512;
    info.stream = static_cast<int64_t>(below(3));
    next_address_ = info.address + static_cast<uint64_t>(info.size);
    const uint64_t address = info.address;
    EXPECT_FALSE(state_.segment_alloc(info).is_none());
    return [=, this] { state_.undo_segment_alloc(state_.segment_containing(address)); };
  }
  std::function<void()> remove_segment() {
    const BlockId id =
        pick([&](const Block& b) { return !b.is_active() && !b.is_split() && b.mapped != expandable(b); });
    if (id.is_none()) return {};
    const SegmentInfo info = state_.segment_of(id);
    state_.segment_free(state_.block(id).segment);
    return [=, this] { EXPECT_FALSE(state_.undo_segment_free(info).is_none()); };
  }
  // A part of a block in units of 512: [address, address + size).
  std::pair<uint64_t, int64_t> part(const Block& block) {
    const auto units = static_cast<uint64_t>(block.size) / 512;
    const uint64_t start = below(2) == 0 ? 0 : below(units);
    const uint64_t count = below(2) == 0 ? units - start : 1 + below(units - start);
    return {block.address + start * 512, static_cast<int64_t>(count * 512)};
  }
  std::function<void()> map() {
    const BlockId id = pick([](const Block& b) { return !b.mapped; });
    if (id.is_none()) return {};
    const auto [address, size] = part(state_.block(id));
    EXPECT_FALSE(state_.segment_map(id, address, size).block.is_none());
    return [=, this, at = address, bytes = size] {
      EXPECT_FALSE(state_.undo_segment_map(state_.block_containing(at), at, bytes).block.is_none());
    };
  }
  std::function<void()> unmap() {
    const BlockId id = pick([&](const Block& b) { return b.mapped && !b.is_active() && expandable(b); });
    if (id.is_none()) return {};
    const auto [address, size] = part(state_.block(id));
    EXPECT_FALSE(state_.segment_unmap(id, address, size).block.is_none());
    return [=, this, at = address, bytes = size] {
      EXPECT_FALSE(state_.undo_segment_unmap(state_.block_containing(at), at, bytes).block.is_none());
    };
  }
  std::function<void()> alloc() {
    const BlockId id = pick([](const Block& b) { return b.mapped && !b.is_active(); });
    if (id.is_none()) return {};
    const Block block = state_.block(id);
    const int64_t size = part(block).second;
    const Use use{size - static_cast<int64_t>(below(512)), StackId(static_cast<int32_t>(below(100))), {}};
    const Carved carved = state_.alloc(id, size, use);
    EXPECT_EQ(state_.live_block_at(block.address), carved.block);
    EXPECT_EQ(carved.after.is_none(), size == block.size);
    return [=, this] { state_.undo_alloc(state_.live_block_at(block.address)); };
  }
  std::function<void()> request_free() {
    const BlockId id = pick([](const Block& b) { return b.state == BlockState::active_allocated; });
    if (id.is_none()) return {};
    const uint64_t address = state_.block(id).address;
    state_.free_requested(id);
    return [=, this] { state_.undo_free_requested(state_.live_block_at(address)); };
  }
  std::function<void()> complete_free() {
    const BlockId id = pick([](const Block& b) { return b.state == BlockState::active_pending_free; });
    if (id.is_none()) return {};
    const Block block = state_.block(id);
    state_.free_completed(id);
    return [=, this] {
      const Carved carved = state_.undo_free_completed(state_.block_containing(block.address), block.address,
                                                       block.size, {block.requested_size, block.stack, {}});
      EXPECT_FALSE(carved.block.is_none());
    };
  }
  [[nodiscard]] bool expandable(const Block& block) const { return state_.segment(block.segment).expandable; }

  Budget budget_{int64_t{1} << 28};
  MemoryState state_;
  std::mt19937_64 random_;
  uint64_t next_address_ = 1 << 20;
  std::vector<Past> history_;
};

TEST(MemoryStateProperty, EveryStepCanBeTakenBack) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Walk walk(seed, seed % 2 == 0 ? Lookup::live_blocks : Lookup::any_address);
    for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) walk.step();
    walk.take_back_all();
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(MemoryStateProperty, ARefusingBudgetChangesNothing) {
  Budget budget(200);
  MemoryState state(budget);
  EXPECT_TRUE(state.segment_alloc({.address = 4096, .size = 4096}).is_none());
  EXPECT_EQ(check_invariants(state), "");
  EXPECT_EQ(state.segment_count(), 0U);
}

TEST(MemoryStateProperty, AnExpandableSegmentCanGrowOnBothSides) {
  Budget budget(int64_t{1} << 20);
  MemoryState state(budget, Lookup::any_address);
  const SegmentId id = state.segment_alloc({.address = 40960, .size = 4096, .expandable = true});
  (void)state.segment_map(state.segment(id).first, 40960, 4096);
  ASSERT_TRUE(state.extend_segment(id, 32768, 65536));
  EXPECT_EQ(check_invariants(state), "");
  EXPECT_EQ(state.segment(id).address, 32768U);
  EXPECT_EQ(state.segment(id).size, 32768);
  EXPECT_EQ(state.block_count(), 3U);  // unmapped, mapped, unmapped
  ASSERT_TRUE(state.extend_segment(id, 28672, 40960));
  EXPECT_EQ(check_invariants(state), "");
  EXPECT_EQ(state.block_count(), 3U);
  EXPECT_FALSE(state.block(state.block_containing(28672)).mapped);
  EXPECT_TRUE(state.block(state.block_containing(45055)).mapped);
}

}  // namespace
}  // namespace gpustrata::alloc
