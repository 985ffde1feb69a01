// A set of numbers below n that finds its neighbours: bits, and above 64 of them one bit that says whether
// any is set. Insert, erase and both searches touch at most log64(n) words; n / 63 bytes in all.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine/base/column.h"

namespace gpustrata::replay {

class OrderedSet {
 public:
  explicit OrderedSet(Budget& budget) : words_(budget) {}

  // The empty set of numbers below n. False if the budget refuses.
  [[nodiscard]] bool build(size_t n) {
    levels_ = 0;
    size_t words = 0;
    do {
      n = (n + 63) / 64;
      start_[levels_] = words;
      count_[levels_++] = n;
      words += n;
    } while (n > 1);
    words_.clear();
    return words_.resize(words, 0);
  }
  void insert(size_t i) {
    for (size_t level = 0; level < levels_; ++level, i /= 64) word(level, i / 64) |= bit(i);
  }
  void erase(size_t i) {
    for (size_t level = 0; level < levels_; ++level, i /= 64) {
      word(level, i / 64) &= ~bit(i);
      if (word(level, i / 64) != 0) return;
    }
  }
  [[nodiscard]] bool contains(size_t i) const { return (word(0, i / 64) & bit(i)) != 0; }
  // The smallest member >= i, -1 = none. `i` may be n.
  [[nodiscard]] int64_t at_or_after(size_t i) const {
    for (size_t level = 0; level < levels_ && i / 64 < count_[level]; ++level) {
      const uint64_t rest = word(level, i / 64) >> (i % 64);
      if (rest != 0) return lowest_below(level, i + static_cast<size_t>(std::countr_zero(rest)));
      i = i / 64 + 1;
    }
    return -1;
  }
  // The largest member < i, -1 = none.
  [[nodiscard]] int64_t before(size_t i) const {
    for (size_t level = 0; level < levels_ && i > 0; ++level) {
      const uint64_t rest = i % 64 == 0 ? 0 : word(level, i / 64) << (64 - i % 64);
      if (rest != 0) return highest_below(level, i - 1 - static_cast<size_t>(std::countl_zero(rest)));
      i /= 64;
    }
    return -1;
  }

 private:
  static constexpr size_t kMostLevels = 11;  // 64^11 > 2^64

  [[nodiscard]] static uint64_t bit(size_t i) { return uint64_t{1} << (i % 64); }
  [[nodiscard]] uint64_t& word(size_t level, size_t i) { return words_[start_[level] + i]; }
  [[nodiscard]] const uint64_t& word(size_t level, size_t i) const { return words_[start_[level] + i]; }
  // Bit i of a level is set: its first, or last, member.
  [[nodiscard]] int64_t lowest_below(size_t level, size_t i) const {
    for (; level > 0; --level) i = i * 64 + static_cast<size_t>(std::countr_zero(word(level - 1, i)));
    return static_cast<int64_t>(i);
  }
  [[nodiscard]] int64_t highest_below(size_t level, size_t i) const {
    for (; level > 0; --level) i = i * 64 + 63 - static_cast<size_t>(std::countl_zero(word(level - 1, i)));
    return static_cast<int64_t>(i);
  }

  Column<uint64_t> words_;  // level after level, the lowest first
  std::array<size_t, kMostLevels> start_{}, count_{};
  size_t levels_ = 0;
};

}  // namespace gpustrata::replay
