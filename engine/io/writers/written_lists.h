// Lists of rows that were written: several snapshots or devices of a file can have one and the same.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/model/tables.h"

namespace gpustrata::io {

enum class RowList : uint8_t { events, segments, annotations };

// At most as many as kMaxSnapshots and kMaxTraces allow, so they are not charged.
class WrittenLists {
 public:
  // 0 = not written yet. O(lists).
  [[nodiscard]] uint32_t find(RowList list, model::RowRange rows) const {
    for (const Entry& entry : entries_) {
      if (entry.list == list && entry.rows == rows) return entry.slot;
    }
    return 0;
  }
  void add(RowList list, model::RowRange rows, uint32_t slot) { entries_.push_back({rows, slot, list}); }

 private:
  struct Entry {
    model::RowRange rows;
    uint32_t slot;
    RowList list;
  };
  std::vector<Entry> entries_;
};

}  // namespace gpustrata::io
