// Sums and the highest running sum of any range of numbers, wide enough for whatever a hostile file says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "engine/base/column.h"

namespace gpustrata::analysis {

using WideSum = __int128;

[[nodiscard]] constexpr int64_t narrow(WideSum sum) {
  constexpr auto kMost = static_cast<WideSum>(std::numeric_limits<int64_t>::max());
  constexpr auto kLeast = static_cast<WideSum>(std::numeric_limits<int64_t>::min());
  return static_cast<int64_t>(std::clamp(sum, kLeast, kMost));
}

// Numbers are added one after the other; ranges are [begin, end) of them.
class RangeSums {
 public:
  explicit RangeSums(Budget& budget) : sums_(budget) {}
  [[nodiscard]] bool reserve(size_t count) { return sums_.reserve(count + 1); }
  [[nodiscard]] bool add(int64_t number) {
    if (sums_.empty() && !sums_.push_back(0)) return false;
    return sums_.push_back(sums_.back() + number);
  }
  [[nodiscard]] WideSum sum(size_t begin, size_t end) const { return sums_[end] - sums_[begin]; }
  // sums()[i] is that of the first i numbers.
  [[nodiscard]] std::span<const WideSum> sums() const { return sums_.span(); }

 private:
  Column<WideSum> sums_;
};

// The highest of any range of values that stay where they are: two levels of the highest of every 64. O(n / 4096) at worst.
class RangeHighest {
 public:
  explicit RangeHighest(Budget& budget) : first_(budget), second_(budget) {}
  [[nodiscard]] bool build(std::span<const WideSum> values) {
    values_ = values;
    first_.clear();
    second_.clear();
    return add_level(values, first_) && add_level(first_.span(), second_);
  }
  // Of [begin, end), not empty.
  [[nodiscard]] WideSum highest(size_t begin, size_t end) const {
    WideSum found = values_[begin];
    of_level(values_, begin, end, found, [&](size_t low, size_t high) {
      of_level(first_.span(), low, high, found, [&](size_t from, size_t to) {
        for (size_t i = from; i < to; ++i) found = std::max(found, second_[i]);
      });
    });
    return found;
  }

 private:
  static constexpr size_t kFanOut = 64;

  [[nodiscard]] static bool add_level(std::span<const WideSum> values, Column<WideSum>& level) {
    for (size_t i = 0; i < values.size(); i += kFanOut) {
      const auto piece = values.subspan(i, std::min(kFanOut, values.size() - i));
      if (!level.push_back(*std::max_element(piece.begin(), piece.end()))) return false;
    }
    return true;
  }
  // Whole pieces of the range are the next level's, its ends are looked at.
  template <typename Above>
  static void of_level(std::span<const WideSum> values, size_t begin, size_t end, WideSum& found,
                       Above above) {
    const size_t low = (begin + kFanOut - 1) / kFanOut, high = end / kFanOut;
    if (low >= high) {
      for (size_t i = begin; i < end; ++i) found = std::max(found, values[i]);
      return;
    }
    for (size_t i = begin; i < low * kFanOut; ++i) found = std::max(found, values[i]);
    for (size_t i = high * kFanOut; i < end; ++i) found = std::max(found, values[i]);
    above(low, high);
  }

  std::span<const WideSum> values_;
  Column<WideSum> first_, second_;
};

}  // namespace gpustrata::analysis
