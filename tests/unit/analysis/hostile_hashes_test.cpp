// Keys that a file chose to collide cost no more than others: in a row of collisions, 200,000 keys are 2 * 10^10 steps to put
// in and as many to find again.
#include <gtest/gtest.h>

#include "engine/analysis/ops/op_groups.h"
#include "engine/io/readers/trace/trace_matching.h"
#include "tests/unit/processor_limit.h"

namespace gpustrata {
namespace {

constexpr int32_t kKeys = 200'000;

// The number whose mix_hash is `hash`: each step of it can be undone.
[[nodiscard]] uint64_t unmixed(uint64_t hash) {
  const auto unfold = [](uint64_t value) { return value ^ (value >> 33); };
  const auto inverse = [](uint64_t odd) {  // modulo 2^64, by Newton's method
    uint64_t found = odd;
    for (int i = 0; i < 6; ++i) found *= 2 - odd * found;
    return found;
  };
  hash = unfold(hash) * inverse(0xc4ceb9fe1a85ec53ULL);
  hash = unfold(hash) * inverse(0xff51afd7ed558ccdULL);
  return unfold(hash);
}

// All in one place of any table below 2^40 slots.
[[nodiscard]] uint64_t colliding(int32_t i) { return unmixed(static_cast<uint64_t>(i + 1) << 40); }

TEST(HostileHashes, TheKeysDoCollide) {
  for (const int32_t i : {0, 1, 2, kKeys - 1}) EXPECT_EQ(mix_hash(colliding(i)) & 0xFFFFFFFFFFULL, 0U);
}

TEST(HostileHashes, PairsOfAFileGetTheirNumbers) {
  const tests::ProcessorLimit limit;
  Budget budget(int64_t{1} << 30);
  analysis::PairIds ids(budget);
  const auto pair = [](int32_t i) {
    const uint64_t key = colliding(i);
    return analysis::PairIds::Pair{static_cast<int32_t>(key >> 32), static_cast<int32_t>(key)};
  };
  for (int32_t i = 0; i < kKeys; ++i) ASSERT_EQ(ids.intern(pair(i)), i);
  for (int32_t i = 0; i < kKeys; ++i) ASSERT_EQ(ids.intern(pair(i)), i);
  EXPECT_EQ(ids.count(), kKeys);
}

TEST(HostileHashes, AddressesOfATraceFindTheirAllocs) {
  const tests::ProcessorLimit limit;
  Budget budget(int64_t{1} << 30);
  io::traces::Matching matching(budget);
  io::traces::Draft draft{};
  draft.has_address = true;
  uint64_t address = 0;
  for (int32_t i = 0; i < kKeys; ++i) {
    draft.address = colliding(i);
    draft.bytes = 8;
    ASSERT_TRUE(matching.place(draft, 8, address));
    ASSERT_EQ(address, colliding(i));
  }
  for (int32_t i = 0; i < kKeys; ++i) {
    draft.address = colliding(i);
    draft.bytes = -8;
    ASSERT_TRUE(matching.place(draft, 8, address));
  }
  EXPECT_EQ(matching.freed_older(), 0);  // each found its alloc
  ASSERT_TRUE(matching.place(draft, 8, address));
  EXPECT_EQ(matching.freed_older(), 8);
}

}  // namespace
}  // namespace gpustrata
