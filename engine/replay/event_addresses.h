// The distinct addresses of a trace in order, and for every event its place among them: what replay needs to
// find neighbours without comparing addresses again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/base/column.h"
#include "engine/replay/address_table.h"

namespace gpustrata::replay {

class EventAddresses {
 public:
  explicit EventAddresses(Budget& budget)
      : table_(budget), seen_(budget), sorted_(budget), place_(budget), of_event_(budget) {}

  // First all addresses are named, those of events in the order of the events. False = no memory.
  [[nodiscard]] bool add(uint64_t address) { return number_of(address) >= 0; }
  [[nodiscard]] bool add_event(uint64_t address) {
    const int32_t number = number_of(address);
    return number >= 0 && of_event_.push_back(number);
  }
  [[nodiscard]] bool add_event() { return of_event_.push_back(-1); }  // one without an address of interest
  // Then they are sorted.
  [[nodiscard]] bool sort() {
    const size_t count = seen_.size();
    Column<int32_t> order(*budget());
    if (!order.resize(count, 0) || !place_.resize(count, 0) || !sorted_.resize(count, 0)) return false;
    for (size_t i = 0; i < count; ++i) order[i] = static_cast<int32_t>(i);
    std::sort(order.data(), order.data() + count,
              [this](int32_t a, int32_t b) { return seen_[a] < seen_[b]; });
    for (size_t i = 0; i < count; ++i) {
      place_[order[i]] = static_cast<int32_t>(i);
      sorted_[i] = seen_[order[i]];
    }
    for (int32_t& number : of_event_.span()) {
      if (number >= 0) number = place_[number];
    }
    return true;
  }

  [[nodiscard]] size_t size() const { return sorted_.size(); }
  [[nodiscard]] uint64_t operator[](size_t place) const { return sorted_[place]; }
  // Place of an event's address, -1 = none.
  [[nodiscard]] int32_t of_event(size_t event) const { return of_event_[event]; }
  // Place of an address that was named. O(1).
  [[nodiscard]] size_t place_of(uint64_t address) {
    return static_cast<size_t>(place_[table_.find(address)->open]);
  }
  // First place at or above any address. O(log addresses).
  [[nodiscard]] size_t first_at(uint64_t address) const {
    return static_cast<size_t>(std::lower_bound(sorted_.begin(), sorted_.end(), address) - sorted_.begin());
  }

 private:
  [[nodiscard]] Budget* budget() { return &table_.budget(); }
  [[nodiscard]] int32_t number_of(uint64_t address) {
    AddressTable::Entry* entry = table_.find_or_add(address);
    if (entry == nullptr) return -1;
    if (entry->open == AddressTable::kNotOpen) {
      entry->open = static_cast<int32_t>(seen_.size());
      if (!seen_.push_back(address)) return -1;
    }
    return entry->open;
  }

  AddressTable table_;     // open = number in order of first appearance
  Column<uint64_t> seen_;  // per number
  Column<uint64_t> sorted_;
  Column<int32_t> place_;  // per number
  Column<int32_t> of_event_;
};

}  // namespace gpustrata::replay
