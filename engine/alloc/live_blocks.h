// Active blocks by their address: a hash table with linear probing, at most half full, O(1).
//
// Memory is charged to the budget when the table grows, never by lookups and erasing. Recorded addresses may
// be chosen to meet in one place: an insertion that probes further than honest ones do makes the table hash
// anew with a seed that no file can know.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/alloc/block.h"
#include "engine/base/column.h"
#include "engine/base/hash.h"

namespace memstrata::alloc {

class LiveBlocks {
 public:
  explicit LiveBlocks(Budget& budget) : budget_(&budget), slots_(budget) {}

  // None if there is no active block at exactly this address.
  [[nodiscard]] BlockId find(uint64_t address) const {
    if (used_ == 0) return {};
    const size_t slot = slot_of(address);
    return slots_[slot].block;
  }
  // Makes sure that the next insert() succeeds; false if the budget refuses.
  [[nodiscard]] bool make_room() {
    return (used_ + 1) * 2 <= slots_.size() || rebuild(std::max(slots_.size() * 2, kSmallest), seed_);
  }
  // After make_room(); the address must not be in the table.
  void insert(uint64_t address, BlockId block) {
    size_t slot = slot_of(address);
    if (((slot - home_of(address)) & (slots_.size() - 1)) > kMaxProbes &&
        rebuild(slots_.size(), fresh_seed()))
      slot = slot_of(address);
    slots_[slot] = {address, block};
    ++used_;
  }
  // The address must be in the table.
  void erase(uint64_t address) {
    const size_t mask = slots_.size() - 1;
    size_t hole = slot_of(address);
    // Later entries of the run move up unless that would put them before their home.
    for (size_t slot = (hole + 1) & mask; !slots_[slot].block.is_none(); slot = (slot + 1) & mask) {
      const size_t home = home_of(slots_[slot].address);
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        slots_[hole] = slots_[slot];
        hole = slot;
      }
    }
    slots_[hole].block = BlockId();
    --used_;
  }
  [[nodiscard]] size_t size() const { return used_; }

 private:
  struct Slot {
    uint64_t address = 0;
    BlockId block;
  };
  static constexpr size_t kSmallest = 64;
  static constexpr size_t kMaxProbes = 128;

  [[nodiscard]] static uint64_t fresh_seed() {
    return mix_hash(static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  }
  [[nodiscard]] size_t home_of(uint64_t address) const {
    return static_cast<size_t>(mix_hash(address ^ seed_)) & (slots_.size() - 1);
  }
  [[nodiscard]] size_t slot_of(uint64_t address) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = home_of(address);
    while (!slots_[slot].block.is_none() && slots_[slot].address != address) slot = (slot + 1) & mask;
    return slot;
  }
  [[nodiscard]] bool rebuild(size_t size, uint64_t seed) {
    Column<Slot> old = std::move(slots_);
    slots_ = Column<Slot>(*budget_);
    if (!slots_.resize(size, Slot{})) {
      slots_ = std::move(old);
      return false;
    }
    seed_ = seed;
    for (const Slot& slot : old) {
      if (!slot.block.is_none()) slots_[slot_of(slot.address)] = slot;
    }
    return true;
  }

  Budget* budget_;
  Column<Slot> slots_;
  size_t used_ = 0;
  uint64_t seed_ = 0;
};

}  // namespace memstrata::alloc
