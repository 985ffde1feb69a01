#include "engine/replay/range_extremes.h"

namespace gpustrata::replay {

namespace {

// The better one of rows that are offered in any order.
template <Extreme kExtreme>
class Best {
 public:
  explicit Best(std::span<const int64_t> values) : values_(values) {}
  void offer(int32_t row) {
    const int64_t value = values_[static_cast<size_t>(row)];
    const bool better = kExtreme == Extreme::highest ? value > value_ : value < value_;
    if (row_ < 0 || better || (value == value_ && row < row_)) {
      row_ = row;
      value_ = value;
    }
  }
  [[nodiscard]] int32_t row() const { return row_; }

 private:
  std::span<const int64_t> values_;
  int64_t value_ = 0;
  int32_t row_ = -1;
};

template <Extreme kExtreme>
int32_t best_of_rows(std::span<const int64_t> values, int32_t begin, int32_t end) {
  Best<kExtreme> best(values);
  for (int32_t row = begin; row < end; ++row) best.offer(row);
  return best.row();
}

}  // namespace

bool RangeExtremes::build(std::span<const int64_t> values) {
  values_ = values;
  entries_.clear();
  levels_ = 0;
  const auto rows = static_cast<int32_t>(values.size());
  size_t total = 0;
  for (int32_t count = rows / kRowsPerEntry; count > 0; count /= kFanOut) total += static_cast<size_t>(count);
  if (!entries_.resize(total, 0)) return false;

  // Only complete entries exist; what is left over at the end is looked up one level below.
  size_t first = 0;
  int32_t count = rows / kRowsPerEntry;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t begin = i * kRowsPerEntry;
    entries_[i] = extreme_ == Extreme::highest
                      ? best_of_rows<Extreme::highest>(values, begin, begin + kRowsPerEntry)
                      : best_of_rows<Extreme::lowest>(values, begin, begin + kRowsPerEntry);
  }
  while (count > 0) {
    level_first_[levels_++] = first;
    const size_t below = first;
    first += static_cast<size_t>(count);
    count /= kFanOut;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      int32_t best = entries_[below + i * kFanOut];
      for (size_t j = 1; j < kFanOut; ++j) {
        const int32_t row = entries_[below + i * kFanOut + j];
        const int64_t value = values[static_cast<size_t>(row)];
        const int64_t so_far = values[static_cast<size_t>(best)];
        if (extreme_ == Extreme::highest ? value > so_far : value < so_far) best = row;
      }
      entries_[first + i] = best;
    }
  }
  return true;
}

template <Extreme kExtreme>
int32_t RangeExtremes::best_row(int32_t begin, int32_t end) const {
  Best<kExtreme> best(values_);
  while (begin < end && begin % kRowsPerEntry != 0) best.offer(begin++);
  while (begin < end && end % kRowsPerEntry != 0) best.offer(--end);
  begin /= kRowsPerEntry;
  end /= kRowsPerEntry;
  for (size_t level = 0; begin < end; ++level) {
    const int32_t* entries = entries_.data() + level_first_[level];
    const bool top = level + 1 == levels_;
    while (begin < end && (top || begin % kFanOut != 0)) best.offer(entries[begin++]);
    while (begin < end && end % kFanOut != 0) best.offer(entries[--end]);
    begin /= kFanOut;
    end /= kFanOut;
  }
  return best.row();
}

template int32_t RangeExtremes::best_row<Extreme::highest>(int32_t, int32_t) const;
template int32_t RangeExtremes::best_row<Extreme::lowest>(int32_t, int32_t) const;

}  // namespace gpustrata::replay
