// Table: what all tables of the model share.
//
// A table is a struct of columns of equal length and a `Row` with the same fields. Its `columns()` names each
// column once, beside the field of Row that fills it; everything that concerns all columns follows from that:
// reserving, appending, copying, reordering, sealing. A new column is a member, a field and a line there.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>

#include "engine/base/column.h"
#include "engine/base/packed_column.h"

namespace gpustrata::model {

// Rows [first, first + count) of a table.
struct RowRange {
  int32_t first = 0;
  int32_t count = 0;

  [[nodiscard]] int32_t end() const { return first + count; }
  bool operator==(const RowRange&) const = default;
};

// Rows are numbered by int32.
inline constexpr size_t kMaxRows = static_cast<size_t>(std::numeric_limits<int32_t>::max());

// A column of a table, and the field of its Row that becomes the value.
template <typename Self, typename Row, typename Values, typename T>
struct Field {
  Values Self::*column;
  T Row::*value;
};
// clang 14 (and with it em++) does not deduce aggregates by itself.
template <typename Self, typename Row, typename Values, typename T>
Field(Values Self::*, T Row::*) -> Field<Self, Row, Values, T>;

template <typename Self>
class Table {
 public:
  explicit Table(Budget& budget) : budget_(&budget) {}

  [[nodiscard]] size_t size_rows() const { return (self().*std::get<0>(Self::columns()).column).size(); }

  // False: the budget refuses, or there are kMaxRows already. Then the table is as before.
  template <typename Of = Self>
  [[nodiscard]] bool append(const typename Of::Row& row) {
    const size_t rows = size_rows();
    if (rows >= kMaxRows) return false;
    const bool whole =
        std::apply([&](auto... field) { return ((self().*field.column).push_back(row.*field.value) && ...); },
                   Self::columns());
    if (!whole) truncate(rows);
    return whole;
  }

  // Copies of the rows of `ranges`, in this order, as new rows at the end. False: refused, nothing changed.
  [[nodiscard]] bool append_copies(std::span<const RowRange> ranges, RowRange& copies) {
    const size_t rows = size_rows();
    size_t count = 0;
    for (const RowRange& range : ranges) count += static_cast<size_t>(range.count);
    if (count > kMaxRows - rows || !reserve(rows + count)) return false;
    bool whole = true;
    each_column([&](auto& column) {
      for (const RowRange& range : ranges)
        whole =
            whole && column.append_rows(static_cast<size_t>(range.first), static_cast<size_t>(range.count));
    });
    if (!whole) {
      truncate(rows);
      return false;
    }
    copies = {static_cast<int32_t>(rows), static_cast<int32_t>(count)};
    return true;
  }

  // Row first + i becomes what row first + order[i] was, for all i of `order`, which is a permutation of
  // 0 to size - 1. Not of tables with packed columns. False: refused, nothing changed.
  [[nodiscard]] bool reorder(size_t first, std::span<const uint32_t> order) {
    if (order.empty()) return true;
    size_t widest = 0;
    each_column([&](const auto& column) { widest = std::max(widest, sizeof(column[0])); });
    Column<std::byte> scratch(*budget_);
    if (!scratch.resize(order.size() * widest, {})) return false;
    each_column([&]<typename T>(Column<T>& column) {
      for (size_t i = 0; i < order.size(); ++i) {
        std::memcpy(scratch.data() + i * sizeof(T), &column[first + order[i]], sizeof(T));
      }
      std::memcpy(column.data() + first, scratch.data(), order.size() * sizeof(T));
    });
    return true;
  }

  // Room for so many rows. False: refused; some columns may have it.
  [[nodiscard]] bool reserve(size_t rows) {
    return std::apply([&](auto... field) { return ((self().*field.column).reserve(rows) && ...); },
                      Self::columns());
  }
  void truncate(size_t rows) {
    each_column([&](auto& column) { column.truncate(rows); });
  }
  void clear() { truncate(0); }
  // No rows come any more: gives back what is not used.
  void seal() {
    each_column([&](auto& column) {
      assert(column.size() == size_rows());
      column.shrink_to_fit();
    });
  }

  template <typename Function>
  void each_column(Function&& function) {
    std::apply([&](auto... field) { (function(self().*field.column), ...); }, Self::columns());
  }
  template <typename Function>
  void each_column(Function&& function) const {
    std::apply([&](auto... field) { (function(self().*field.column), ...); }, Self::columns());
  }

 protected:
  [[nodiscard]] Budget& budget() const { return *budget_; }

 private:
  [[nodiscard]] Self& self() { return static_cast<Self&>(*this); }
  [[nodiscard]] const Self& self() const { return static_cast<const Self&>(*this); }

  Budget* budget_;
};

}  // namespace gpustrata::model
