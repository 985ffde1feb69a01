// MemoryState under random actions: the invariants hold after every step.
#include "engine/alloc/memory_state.h"
#include "tests/unit/alloc/invariants.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace gpustrata::alloc {
namespace {

class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed) {}

  // A random action.
  void step() {
    switch (below(8)) {
      case 0:
        add_segment();
        break;
      case 1:
        remove_segment();
        break;
      case 2:
        map();
        break;
      case 3:
        unmap();
        break;
      case 4:
      case 5:
        alloc();
        break;
      case 6:
        request_free();
        break;
      default:
        complete_free();
    }
    ASSERT_EQ(check_invariants(state_), "");
  }

 private:
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

  void add_segment() {
    SegmentInfo info;
    info.address = next_address_ + below(3) * 4096;
    info.small = below(2) == 0;
    info.expandable = below(2) == 0;
    info.size = static_cast<int64_t>(1 + below(64)) * 512;
    info.stream = static_cast<int64_t>(below(3));
    next_address_ = info.address + static_cast<uint64_t>(info.size);
    EXPECT_FALSE(state_.segment_alloc(info).is_none());
  }
  void remove_segment() {
    const BlockId id =
        pick([&](const Block& b) { return !b.is_active() && !b.is_split() && b.mapped != expandable(b); });
    if (id.is_none()) return;
    state_.segment_free(state_.block(id).segment);
  }
  // A part of a block in units of 512: [address, address + size).
  std::pair<uint64_t, int64_t> part(const Block& block) {
    const auto units = static_cast<uint64_t>(block.size) / 512;
    const uint64_t start = below(2) == 0 ? 0 : below(units);
    const uint64_t count = below(2) == 0 ? units - start : 1 + below(units - start);
    return {block.address + start * 512, static_cast<int64_t>(count * 512)};
  }
  void map() {
    const BlockId id = pick([](const Block& b) { return !b.mapped; });
    if (id.is_none()) return;
    const auto [address, size] = part(state_.block(id));
    EXPECT_FALSE(state_.segment_map(id, address, size).block.is_none());
  }
  void unmap() {
    const BlockId id = pick([&](const Block& b) { return b.mapped && !b.is_active() && expandable(b); });
    if (id.is_none()) return;
    const auto [address, size] = part(state_.block(id));
    EXPECT_FALSE(state_.segment_unmap(id, address, size).block.is_none());
  }
  void alloc() {
    const BlockId id = pick([](const Block& b) { return b.mapped && !b.is_active(); });
    if (id.is_none()) return;
    const Block block = state_.block(id);
    const int64_t size = part(block).second;
    const Use use{size - static_cast<int64_t>(below(512)), StackId(static_cast<int32_t>(below(100))), {}};
    const Carved carved = state_.alloc(id, size, use);
    EXPECT_EQ(state_.live_block_at(block.address), carved.block);
    EXPECT_EQ(carved.after.is_none(), size == block.size);
  }
  void request_free() {
    const BlockId id = pick([](const Block& b) { return b.state == BlockState::active_allocated; });
    if (id.is_none()) return;
    state_.free_requested(id);
  }
  void complete_free() {
    const BlockId id = pick([](const Block& b) { return b.state == BlockState::active_pending_free; });
    if (id.is_none()) return;
    state_.free_completed(id);
  }
  [[nodiscard]] bool expandable(const Block& block) const { return state_.segment(block.segment).expandable; }

  Budget budget_{int64_t{1} << 28};
  MemoryState state_{budget_};
  std::mt19937_64 random_;
  uint64_t next_address_ = 1 << 20;
};

TEST(MemoryStateProperty, InvariantsHoldAfterEveryStep) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Walk walk(seed);
    for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) walk.step();
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

}  // namespace
}  // namespace gpustrata::alloc
