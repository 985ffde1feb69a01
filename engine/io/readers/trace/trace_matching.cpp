#include "engine/io/readers/trace/trace_matching.h"

#include <algorithm>
#include <utility>

#include "engine/base/hash_seed.h"
#include "engine/base/saturating.h"

namespace gpustrata::io::traces {

size_t Matching::Table::home_of(uint64_t key) const {
  return static_cast<size_t>(mix_hash(key ^ seed_)) & (slots_.size() - 1);
}

size_t Matching::Table::slot_of(uint64_t key) const {
  size_t slot = home_of(key);
  while (slots_[slot].used && slots_[slot].key != key) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

// False: memory was refused, the table is as before.
bool Matching::Table::rebuild(size_t size, uint64_t seed) {
  Column<Slot> old = std::move(slots_);
  slots_ = Column<Slot>(*budget_);
  if (!slots_.resize(size, {0, -1, false})) {
    slots_ = std::move(old);
    return false;
  }
  seed_ = seed;
  for (const Slot& slot : old) {
    if (slot.used) slots_[slot_of(slot.key)] = slot;
  }
  return true;
}

int32_t* Matching::Table::find_or_add(uint64_t key) {
  constexpr size_t kSmallest = 256;
  if (used_ * 2 >= slots_.size() && !rebuild(std::max(kSmallest, slots_.size() * 2), seed_)) return nullptr;
  size_t at = slot_of(key);
  if (!slots_[at].used) {
    const size_t probes = (at - home_of(key)) & (slots_.size() - 1);
    if (probes > kMostProbes && rebuild(slots_.size(), fresh_hash_seed())) at = slot_of(key);
    slots_[at] = {key, -1, true};
    ++used_;
  }
  return &slots_[at].value;
}

void Matching::count_older(int64_t bytes) { add_saturated(freed_older_, bytes); }

bool Matching::place_by_size(bool is_free, int64_t bytes, uint64_t& address) {
  int32_t* newest = open_of_size_.find_or_add(static_cast<uint64_t>(bytes));
  if (newest == nullptr) return false;
  if (!is_free) {
    address = kMadeUp + ++made_up_;
    if (!open_.push_back({address, *newest})) return false;
    *newest = static_cast<int32_t>(open_.size() - 1);
  } else if (*newest >= 0) {
    address = open_[*newest].address;
    *newest = open_[*newest].next;
  } else {
    address = kMadeUp + ++made_up_;
    count_older(bytes);
  }
  return true;
}

bool Matching::place(const Draft& draft, int64_t bytes, uint64_t& address) {
  if (draft.bytes == 0) {  // changes nothing, wherever it is
    address = kMadeUp + ++made_up_;
    return true;
  }
  if (!draft.has_address) return place_by_size(draft.bytes < 0, bytes, address);
  int32_t* live = live_.find_or_add(draft.address);
  if (live == nullptr) return false;
  address = draft.address;
  if (draft.bytes < 0 && *live < 0) count_older(bytes);
  *live = draft.bytes < 0 ? -1 : 1;
  return true;
}

}  // namespace gpustrata::io::traces
