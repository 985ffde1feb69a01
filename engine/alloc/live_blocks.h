// Active blocks by their address: a hash table with linear probing, at most half full, O(1).
//
// A slot is a block's id and 32 bits of its address' hash (multiplicative): eight bytes, so that the table
// stays in the cache; the address itself is the block's. Memory is charged to the budget when the table
// grows, never by lookups and erasing. Recorded addresses may be chosen to meet in one place: an insertion
// that probes further than honest ones do makes the table hash anew with a seed that no file can know.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/alloc/block.h"
#include "engine/base/column.h"
#include "engine/base/hash.h"

namespace gpustrata::alloc {

class LiveBlocks {
 public:
  explicit LiveBlocks(Budget& budget) : budget_(&budget), slots_(budget) {}

  // None if there is no active block at exactly this address.
  [[nodiscard]] BlockId find(uint64_t address, const Column<Block>& blocks) const {
    if (used_ == 0) return {};
    const uint32_t tag = tag_of(address);
    for (size_t slot = home_of(tag);; slot = (slot + 1) & mask()) {
      const Slot& row = slots_[slot];
      if (row.block.is_none()) return {};
      if (row.tag == tag && blocks[row.block.index()].address == address) return row.block;
    }
  }
  // Makes sure that the next insert() succeeds; false if the budget refuses.
  [[nodiscard]] bool make_room(const Column<Block>& blocks) {
    return (used_ + 1) * 2 <= slots_.size() || rebuild(std::max(slots_.size() * 2, kSmallest), seed_, blocks);
  }
  // After make_room(); the address must not be in the table.
  void insert(uint64_t address, BlockId block, const Column<Block>& blocks) {
    if (place({tag_of(address), block}) > kMaxProbes) {
      ++used_;
      (void)rebuild(slots_.size(), fresh_seed(), blocks);  // without memory it stays slow, but right
      return;
    }
    ++used_;
  }
  // The block must be in the table.
  void erase(uint64_t address, BlockId block) {
    size_t hole = home_of(tag_of(address));
    while (slots_[hole].block != block) hole = (hole + 1) & mask();
    // Later entries of the run move up unless that would put them before their home.
    for (size_t slot = (hole + 1) & mask(); !slots_[slot].block.is_none(); slot = (slot + 1) & mask()) {
      const size_t home = home_of(slots_[slot].tag);
      if (((slot - home) & mask()) >= ((slot - hole) & mask())) {
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
    uint32_t tag = 0;
    BlockId block;
  };
  static constexpr size_t kSmallest = 64;
  static constexpr size_t kMaxProbes = 128;

  [[nodiscard]] static uint64_t fresh_seed() {
    return mix_hash(static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())) | 1;
  }
  [[nodiscard]] size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] uint32_t tag_of(uint64_t address) const {
    return static_cast<uint32_t>((address * seed_) >> 32);
  }
  [[nodiscard]] size_t home_of(uint32_t tag) const { return tag >> shift_; }
  // Into the first free slot from its home on; how far that is.
  size_t place(Slot entry) {
    size_t probes = 0;
    size_t slot = home_of(entry.tag);
    for (; !slots_[slot].block.is_none(); slot = (slot + 1) & mask()) ++probes;
    slots_[slot] = entry;
    return probes;
  }
  [[nodiscard]] bool rebuild(size_t size, uint64_t seed, const Column<Block>& blocks) {
    Column<Slot> old = std::move(slots_);
    slots_ = Column<Slot>(*budget_);
    if (!slots_.resize(size, Slot{})) {
      slots_ = std::move(old);
      return false;
    }
    seed_ = seed;
    shift_ = 32 - std::countr_zero(size);
    for (const Slot& slot : old) {
      if (!slot.block.is_none()) place({tag_of(blocks[slot.block.index()].address), slot.block});
    }
    return true;
  }

  Budget* budget_;
  Column<Slot> slots_;
  size_t used_ = 0;
  uint64_t seed_ = 0x9e3779b97f4a7c15ULL;  // odd; 2^64 / golden ratio: addresses in a row are spread evenly
  int shift_ = 0;
};

}  // namespace gpustrata::alloc
