// The segments of one device's final state, by address.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "engine/base/column.h"
#include "engine/model/recording.h"

namespace gpustrata::replay {

class SegmentIndex {
 public:
  explicit SegmentIndex(Budget& budget) : places_(budget) {}

  // False if the budget refuses. Refers to the recording.
  [[nodiscard]] bool build(const model::Recording& recording, const model::Part& part, int32_t device) {
    segments_ = &recording.segments;
    places_.clear();
    for (int32_t row = part.segments.first; row < part.segments.end(); ++row) {
      if (segments_->device[row] == device && !places_.push_back({segments_->address[row], row}))
        return false;
    }
    std::sort(places_.data(), places_.data() + places_.size(), [](const Place& a, const Place& b) {
      return a.address != b.address ? a.address < b.address : a.row < b.row;
    });
    return true;
  }
  // Row of SegmentTable whose range holds the address, -1 = none. O(log segments).
  [[nodiscard]] int32_t row_around(uint64_t address) const {
    const Place* after =
        std::upper_bound(places_.begin(), places_.end(), address,
                         [](uint64_t wanted, const Place& place) { return wanted < place.address; });
    if (after == places_.begin()) return -1;
    const Place& before = *std::prev(after);
    const auto size = static_cast<uint64_t>(segments_->total_size[before.row]);
    return address - before.address < size ? before.row : -1;
  }

 private:
  struct Place {
    uint64_t address;
    int32_t row;
  };
  const model::SegmentTable* segments_ = nullptr;
  Column<Place> places_;
};

}  // namespace gpustrata::replay
