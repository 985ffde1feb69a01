// Addresses seen in a trace: which block is open there, and how many frees of it were completed.
//
// Open addressing with linear probing, at most half full. Memory is charged to the budget.
//
// A file may choose its addresses so that they meet in one place: a new address that probes further than
// honest ones do makes the table hash anew with a seed from the clock, which no file can know. No answer
// depends on the seed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/base/column.h"
#include "engine/base/hash.h"

namespace gpustrata::replay {

class AddressTable {
 public:
  static constexpr int32_t kNotOpen = -1;
  struct Entry {
    uint64_t address = 0;
    int32_t open = kUnused;  // what the caller keeps for the open block, kNotOpen = none
    uint32_t frees = 0;      // completed so far
  };

  explicit AddressTable(Budget& budget) : budget_(&budget), entries_(budget) {}

  // Null if the budget refuses. Valid until the next call.
  [[nodiscard]] Entry* find_or_add(uint64_t address) {
    if (used_ * 2 >= entries_.size() && !rebuild(std::max(entries_.size() * 2, kSmallest), seed_))
      return nullptr;
    size_t slot = slot_of(address);
    if (entries_[slot].open == kUnused) {
      if (probes_to(slot, address) > kMaxProbes && rebuild(entries_.size(), fresh_seed()))
        slot = slot_of(address);
      entries_[slot] = {address, kNotOpen, 0};
      ++used_;
    }
    return &entries_[slot];
  }
  // Null if the address was never added.
  [[nodiscard]] Entry* find(uint64_t address) {
    if (used_ == 0) return nullptr;
    Entry& entry = entries_[slot_of(address)];
    return entry.open == kUnused ? nullptr : &entry;
  }
  [[nodiscard]] Budget& budget() const { return *budget_; }

 private:
  static constexpr int32_t kUnused = -2;
  static constexpr size_t kSmallest = 1024;

  // Half full, 10^9 honest addresses probe less far: the longest run is about 5 * ln(addresses).
  static constexpr size_t kMaxProbes = 128;

  [[nodiscard]] static uint64_t fresh_seed() {
    return mix_hash(static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  }
  [[nodiscard]] size_t home_of(uint64_t address) const {
    return static_cast<size_t>(mix_hash(address ^ seed_)) & (entries_.size() - 1);
  }
  [[nodiscard]] size_t probes_to(size_t slot, uint64_t address) const {
    return (slot - home_of(address)) & (entries_.size() - 1);
  }
  // The address's slot, or the free one where it belongs.
  [[nodiscard]] size_t slot_of(uint64_t address) const {
    const size_t mask = entries_.size() - 1;
    size_t slot = home_of(address);
    while (entries_[slot].open != kUnused && entries_[slot].address != address) slot = (slot + 1) & mask;
    return slot;
  }
  // False if the budget refuses; the table is as before then.
  [[nodiscard]] bool rebuild(size_t size, uint64_t seed) {
    Column<Entry> old = std::move(entries_);
    entries_ = Column<Entry>(*budget_);
    if (!entries_.resize(size, Entry{})) {
      entries_ = std::move(old);
      return false;
    }
    seed_ = seed;
    for (const Entry& entry : old) {
      if (entry.open != kUnused) entries_[slot_of(entry.address)] = entry;
    }
    return true;
  }

  Budget* budget_;
  Column<Entry> entries_;
  size_t used_ = 0;
  uint64_t seed_ = 0;
};

}  // namespace gpustrata::replay
