// Rows of the model's tables as a whole: all columns of a table always have the same length, also when the
// budget refuses in the middle.
#pragma once

#include <limits>
#include <span>
#include <tuple>

#include "engine/model/tables.h"

namespace memstrata::io {

inline auto columns(model::EventTable& t) {
  return std::tie(t.action, t.address, t.size, t.time_us, t.stack, t.context, t.metadata, t.stream, t.pool);
}
inline auto columns(model::BlockTable& t) {
  return std::tie(t.address, t.size, t.requested_size, t.state, t.stack, t.metadata, t.history);
}
inline auto columns(model::HistoryTable& t) { return std::tie(t.address, t.real_size, t.stack); }
inline auto columns(model::SegmentTable& t) {
  return std::tie(t.device, t.address, t.total_size, t.allocated_size, t.active_size, t.requested_size,
                  t.stream, t.pool, t.type, t.expandable, t.stack, t.metadata, t.blocks);
}
inline auto columns(model::AnnotationTable& t) { return std::tie(t.name, t.stage, t.device, t.time_us); }
inline auto columns(model::ExtraTable& t) { return std::tie(t.owner, t.row, t.key, t.value); }

inline constexpr size_t kMaxRows = static_cast<size_t>(std::numeric_limits<int32_t>::max());

// One value per column, in the order above. False: refused, the table is as before.
template <typename Table, typename... Values>
[[nodiscard]] bool append_row(Table& table, const Values&... values) {
  const size_t rows = table.size_rows();
  if (rows >= kMaxRows) return false;
  const bool whole =
      std::apply([&](auto&... column) { return (column.push_back(values) && ...); }, columns(table));
  if (!whole) std::apply([&](auto&... column) { (column.truncate(rows), ...); }, columns(table));
  return whole;
}

// Copies of the rows of `ranges`, in this order, as new rows at the end. False: refused, nothing changed.
template <typename Table>
[[nodiscard]] bool append_copies(Table& table, std::span<const model::RowRange> ranges,
                                 model::RowRange& copies) {
  const size_t rows = table.size_rows();
  size_t count = 0;
  for (const model::RowRange& range : ranges) count += static_cast<size_t>(range.count);
  if (count > kMaxRows - rows) return false;
  const auto grow = [&](auto& column) { return column.resize(rows + count, {}); };
  if (!std::apply([&](auto&... column) { return (grow(column) && ...); }, columns(table))) {
    std::apply([&](auto&... column) { (column.truncate(rows), ...); }, columns(table));
    return false;
  }
  const auto copy = [&](auto& column) {
    size_t to = rows;
    for (const model::RowRange& range : ranges) {
      for (int32_t row = range.first; row < range.end(); ++row)
        column[to++] = column[static_cast<size_t>(row)];
    }
  };
  std::apply([&](auto&... column) { (copy(column), ...); }, columns(table));
  copies = {static_cast<int32_t>(rows), static_cast<int32_t>(count)};
  return true;
}

}  // namespace memstrata::io
