// What is reserved and allocated over the events of a recording, in columns of equal width: the highest of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gpustrata::simulate {

class Levels {
 public:
  static constexpr int32_t kMostColumns = 8192;

  // 0 <= events; columns are bounded by the caller to kMostColumns.
  Levels(int32_t events, int32_t columns)
      : reserved(static_cast<size_t>(columns)), allocated(static_cast<size_t>(columns)), events_(events) {}

  // Bytes after an event; events ascend. What holds before the first: event 0, too.
  void at(int32_t event, int64_t reserved_now, int64_t allocated_now) {
    const auto columns = static_cast<int64_t>(reserved.size());
    if (columns == 0 || events_ == 0) return;
    const int64_t column = std::min(columns - 1, int64_t{event} * columns / events_);
    if (column > column_) {
      fill_to(column);
      column_ = column;
    }
    reserved_ = reserved_now;
    allocated_ = allocated_now;
    note(column_);
  }
  void finish() { fill_to(static_cast<int64_t>(reserved.size())); }

  std::vector<int64_t> reserved, allocated;  // by column

 private:
  // Columns without an event have what was there before.
  void fill_to(int64_t end) {
    for (int64_t column = column_ + 1; column < end; ++column) note(column);
  }
  void note(int64_t column) {
    reserved[static_cast<size_t>(column)] = std::max(reserved[static_cast<size_t>(column)], reserved_);
    allocated[static_cast<size_t>(column)] = std::max(allocated[static_cast<size_t>(column)], allocated_);
  }

  int32_t events_;
  int64_t column_ = 0;
  int64_t reserved_ = 0, allocated_ = 0;
};

}  // namespace gpustrata::simulate
