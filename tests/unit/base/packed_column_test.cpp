#include "engine/base/packed_column.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace gpustrata {
namespace {

constexpr size_t kChunk = PackedColumn<int64_t>::kChunk;

template <typename T>
void fill(PackedColumn<T>& column, size_t count, auto value_at) {
  for (size_t i = 0; i < count; ++i) ASSERT_TRUE(column.push_back(value_at(i)));
}

// Bytes of the values of one full chunk, beside those of 24 each that say what a chunk is.
template <typename T>
int64_t bytes_of_chunk(auto value_at) {
  Budget budget(1 << 20);
  PackedColumn<T> column(budget);
  fill<T>(column, kChunk, value_at);
  column.shrink_to_fit();
  for (size_t i = 0; i < kChunk; ++i) EXPECT_EQ(column[i], value_at(i)) << i;
  return budget.used() - 24;
}

TEST(PackedColumn, AChunkIsAsNarrowAsItsValues) {
  constexpr auto kRows = static_cast<int64_t>(kChunk);
  EXPECT_EQ(bytes_of_chunk<int64_t>([](size_t) { return int64_t{-7}; }), 0);
  EXPECT_EQ(bytes_of_chunk<StringId>([](size_t) { return StringId(); }), 0);
  EXPECT_EQ(bytes_of_chunk<int64_t>([](size_t i) { return static_cast<int64_t>(1000 + i % 256); }), kRows);
  EXPECT_EQ(bytes_of_chunk<int64_t>([](size_t i) { return static_cast<int64_t>(1000 + i % 257); }),
            2 * kRows);
  // Times in order, 15 us apart: 4095 * 15 < 65536.
  EXPECT_EQ(
      bytes_of_chunk<int64_t>([](size_t i) { return 1'700'000'000'000'000 + static_cast<int64_t>(15 * i); }),
      2 * kRows);
  // Multiples of 512 up to 2 TiB.
  EXPECT_EQ(bytes_of_chunk<int64_t>([](size_t i) { return static_cast<int64_t>(i) << 29; }), 2 * kRows);
  EXPECT_EQ(bytes_of_chunk<int64_t>([](size_t i) { return static_cast<int64_t>(i * i * 100 + 1); }),
            4 * kRows);
  EXPECT_EQ(bytes_of_chunk<int64_t>([](size_t i) { return static_cast<int64_t>((i << 40) + i); }), 8 * kRows);
  EXPECT_EQ(bytes_of_chunk<StreamId>([](size_t i) { return StreamId(static_cast<int16_t>(i % 2)); }), kRows);
  EXPECT_EQ(bytes_of_chunk<StreamId>([](size_t i) { return StreamId(static_cast<int16_t>(i)); }), 2 * kRows);
}

TEST(PackedColumn, TellsHowFarAChunkOfOneValueGoes) {
  Budget budget(1 << 20);
  PackedColumn<int32_t> column(budget);
  fill<int32_t>(column, 2 * kChunk + 3, [](size_t i) { return i < kChunk ? 5 : static_cast<int32_t>(i); });
  EXPECT_EQ(column.same_to(0), kChunk);
  EXPECT_EQ(column.same_to(kChunk - 1), kChunk);
  EXPECT_EQ(column.same_to(kChunk), kChunk + 1);
  EXPECT_EQ(column.same_to(2 * kChunk), 2 * kChunk + 1);  // not packed yet
  fill<int32_t>(column, 1, [](size_t) { return 9; });
  column.truncate(kChunk - 7);
  EXPECT_EQ(column.same_to(3), kChunk - 7);
}

TEST(PackedColumn, HoldsTheFurthestValuesBesideEachOther) {
  const std::vector<int64_t> ends = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                                     0, -1};
  EXPECT_EQ(bytes_of_chunk<int64_t>([&](size_t i) { return ends[i % ends.size()]; }),
            8 * static_cast<int64_t>(kChunk));
  // 2^31 apart: what is kept of them is one bit.
  constexpr int32_t kLast = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(bytes_of_chunk<StringId>([](size_t i) { return StringId(i % 2 == 0 ? kLast : -1); }),
            static_cast<int64_t>(kChunk));
  EXPECT_EQ(bytes_of_chunk<StringId>([](size_t i) { return StringId(i % 2 == 0 ? kLast - 1 : -1); }),
            4 * static_cast<int64_t>(kChunk));
}

TEST(PackedColumn, OneOddValueWidensItsChunkOnly) {
  Budget budget(1 << 20);
  PackedColumn<int64_t> column(budget);
  const auto value = [](size_t i) {
    return i == kChunk + 3 ? int64_t{1} << 50 | 1 : static_cast<int64_t>(i % 2);
  };
  fill<int64_t>(column, 3 * kChunk, value);
  column.shrink_to_fit();
  EXPECT_EQ(budget.used(), 3 * 24 + (1 + 8 + 1) * static_cast<int64_t>(kChunk));
  for (size_t i = 0; i < 3 * kChunk; ++i) ASSERT_EQ(column[i], value(i)) << i;
}

TEST(PackedColumn, GoesOnAfterItWasPackedAndCut) {
  Budget budget(1 << 20);
  PackedColumn<int64_t> column(budget);
  fill<int64_t>(column, kChunk + 10, [](size_t i) { return static_cast<int64_t>(i); });
  column.shrink_to_fit();
  column.shrink_to_fit();
  EXPECT_EQ(column.size(), kChunk + 10);
  ASSERT_TRUE(column.push_back(-5));
  EXPECT_EQ(column[kChunk + 9], static_cast<int64_t>(kChunk + 9));
  EXPECT_EQ(column[kChunk + 10], -5);
  column.back() = 6;
  EXPECT_EQ(column[kChunk + 10], 6);
  column.truncate(kChunk + 1);
  EXPECT_EQ(column.size(), kChunk + 1);
  column.truncate(7);  // within what is packed
  EXPECT_EQ(column.size(), 7u);
  ASSERT_TRUE(column.push_back(70));
  EXPECT_EQ(column.size(), 8u);
  EXPECT_EQ(column[6], 6);
  EXPECT_EQ(column[7], 70);
  ASSERT_TRUE(column.append_rows(5, 3));
  EXPECT_EQ(column[8], 5);
  EXPECT_EQ(column[10], 70);
  column.clear();
  EXPECT_TRUE(column.empty());
  column.shrink_to_fit();
  EXPECT_EQ(budget.used(), 0);
}

TEST(PackedColumn, ARefusalLeavesItAsItWas) {
  // 4096 values of 8 bytes, what growth by half needs for them, and less than their chunk of 8 bytes each besides.
  Budget budget(60'000);
  PackedColumn<int64_t> column(budget);
  size_t count = 0;
  while (column.push_back(static_cast<int64_t>((count << 40) + count))) ++count;
  EXPECT_EQ(count, kChunk);
  EXPECT_EQ(column.size(), kChunk);
  EXPECT_GT(budget.needed(), budget.limit());
  EXPECT_EQ(column[kChunk - 1], static_cast<int64_t>(((kChunk - 1) << 40) + kChunk - 1));
}

TEST(PackedColumn, IsAVectorInEveryRandomStep) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    Budget budget(64 << 20);
    {
      PackedColumn<int64_t> column(budget);
      std::vector<int64_t> twin;
      for (int step = 0; step < 60; ++step) {
        const uint64_t what = random() % 8;
        if (what < 4) {
          const uint64_t count = random() % (2 * kChunk), bits = random() % 65, shift = random() % 12;
          for (uint64_t i = 0; i < count; ++i) {
            const uint64_t value = bits == 0 ? 0 : (random() >> (64 - bits)) << shift;
            ASSERT_TRUE(column.push_back(static_cast<int64_t>(value)));
            twin.push_back(static_cast<int64_t>(value));
          }
        } else if (what == 4) {
          column.shrink_to_fit();
        } else if (what == 5 && !twin.empty()) {
          const size_t size = random() % (twin.size() + 1);
          if (random() % 3 == 0) twin.resize(size);
          column.truncate(twin.size());
        } else if (what == 6 && !twin.empty()) {
          const size_t at = random() % twin.size();
          twin[at] = static_cast<int64_t>(random());
          ASSERT_TRUE(column.set(at, twin[at]));
        } else if (!twin.empty()) {
          const size_t first = random() % twin.size(), count = random() % (twin.size() - first);
          for (size_t i = first; i < first + count; ++i) twin.push_back(twin[i]);
          ASSERT_TRUE(column.append_rows(first, count));
        }
        if (twin.size() > 20 * kChunk) {
          twin.resize(kChunk / 2);
          column.truncate(kChunk / 2);
        }
        ASSERT_EQ(column.size(), twin.size()) << seed;
      }
      for (size_t i = 0; i < twin.size(); ++i) ASSERT_EQ(column[i], twin[i]) << seed << " " << i;
    }
    EXPECT_EQ(budget.used(), 0) << seed;
  }
}

}  // namespace
}  // namespace gpustrata
