#include "engine/replay/address_table.h"

#include <gtest/gtest.h>

#include "tests/unit/processor_limit.h"

namespace gpustrata::replay {
namespace {

// The address whose mix_hash is `hash`: every step of it can be taken back.
uint64_t address_of_hash(uint64_t hash) {
  const auto inverse = [](uint64_t odd) {  // by Newton's method, modulo 2^64
    uint64_t x = odd;
    for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
    return x;
  };
  hash ^= hash >> 33;
  hash *= inverse(0xc4ceb9fe1a85ec53ULL);
  hash ^= hash >> 33;
  hash *= inverse(0xff51afd7ed558ccdULL);
  return hash ^ (hash >> 33);
}

TEST(AddressTable, KeepsWhatWasStoredWhileItGrows) {
  Budget budget(1 << 24);
  AddressTable table(budget);
  for (int32_t i = 0; i < 5000; ++i) {
    AddressTable::Entry* entry = table.find_or_add(static_cast<uint64_t>(i) * 512);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->open, AddressTable::kNotOpen);
    entry->open = i;
  }
  for (int32_t i = 0; i < 5000; ++i) EXPECT_EQ(table.find(static_cast<uint64_t>(i) * 512)->open, i);
  EXPECT_EQ(table.find(1), nullptr);
}

TEST(AddressTable, ChosenAddressesDoNotMeetInOnePlace) {
  ASSERT_EQ(mix_hash(address_of_hash(uint64_t{7} << 32)), uint64_t{7} << 32);
  Budget budget(1 << 26);
  AddressTable table(budget);
  constexpr int32_t kCount = 200'000;  // 2 * 10^10 probes to put them in, and to find them, if they did
  const tests::ProcessorLimit limit;
  for (int32_t i = 0; i < kCount; ++i) {
    AddressTable::Entry* entry = table.find_or_add(address_of_hash(static_cast<uint64_t>(i) << 32));
    ASSERT_NE(entry, nullptr);
    entry->open = i;
  }
  for (int32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(table.find(address_of_hash(static_cast<uint64_t>(i) << 32))->open, i);
  }
}

}  // namespace
}  // namespace gpustrata::replay
