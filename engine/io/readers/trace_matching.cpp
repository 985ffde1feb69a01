#include "engine/io/readers/trace_matching.h"

#include "engine/base/hash.h"
#include "engine/base/saturating.h"

namespace memstrata::io::traces {

size_t Matching::Table::slot_of(const Column<Slot>& slots, uint64_t key) const {
  size_t slot = mix_hash(key) & (slots.size() - 1);
  while (slots[slot].used && slots[slot].key != key) slot = (slot + 1) & (slots.size() - 1);
  return slot;
}

bool Matching::Table::grow() {
  Column<Slot> grown(*budget_);
  if (!grown.resize(slots_.empty() ? 256 : slots_.size() * 2, {0, -1, false})) return false;
  for (const Slot& slot : slots_) {
    if (slot.used) grown[slot_of(grown, slot.key)] = slot;
  }
  slots_ = std::move(grown);
  return true;
}

int32_t* Matching::Table::find_or_add(uint64_t key) {
  if (used_ * 2 >= slots_.size() && !grow()) return nullptr;
  Slot& slot = slots_[slot_of(slots_, key)];
  if (!slot.used) {
    slot = {key, -1, true};
    ++used_;
  }
  return &slot.value;
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

}  // namespace memstrata::io::traces
