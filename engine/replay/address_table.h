// Addresses seen in a trace: which block is open there, and how many frees of it were completed.
//
// Open addressing with linear probing, at most half full. Memory is charged to the budget.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine/base/column.h"
#include "engine/base/hash.h"

namespace memstrata::replay {

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
    if (used_ * 2 >= entries_.size() && !grow()) return nullptr;
    Entry& entry = entries_[slot_of(address)];
    if (entry.open == kUnused) {
      entry = {address, kNotOpen, 0};
      ++used_;
    }
    return &entry;
  }
  // Null if the address was never added.
  [[nodiscard]] Entry* find(uint64_t address) {
    if (used_ == 0) return nullptr;
    Entry& entry = entries_[slot_of(address)];
    return entry.open == kUnused ? nullptr : &entry;
  }

 private:
  static constexpr int32_t kUnused = -2;

  // The address's slot, or the free one where it belongs.
  [[nodiscard]] size_t slot_of(uint64_t address) const {
    const size_t mask = entries_.size() - 1;
    auto slot = static_cast<size_t>(mix_hash(address)) & mask;
    while (entries_[slot].open != kUnused && entries_[slot].address != address) slot = (slot + 1) & mask;
    return slot;
  }
  [[nodiscard]] bool grow() {
    Column<Entry> old = std::move(entries_);
    entries_ = Column<Entry>(*budget_);
    if (!entries_.resize(old.empty() ? 1024 : old.size() * 2, Entry{})) {
      entries_ = std::move(old);
      return false;
    }
    for (const Entry& entry : old) {
      if (entry.open != kUnused) entries_[slot_of(entry.address)] = entry;
    }
    return true;
  }

  Budget* budget_;
  Column<Entry> entries_;
  size_t used_ = 0;
};

}  // namespace memstrata::replay
