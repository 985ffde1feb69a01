#include "engine/analysis/ops/op_list.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/base/memory_refused.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

// Far from 0 in either direction.
[[nodiscard]] int64_t size_of(int64_t bytes) { return bytes < 0 ? saturated_difference(0, bytes) : bytes; }

[[nodiscard]] int64_t key_of(const OpRow& row, OpSort sort) {
  switch (sort) {
    case OpSort::net:
      return size_of(row.net);
    case OpSort::self:
      return size_of(row.self);
    case OpSort::gross:
      return row.gross;
    case OpSort::peak:
      return row.peak;
    case OpSort::at_peak:
      return row.at_peak;
    case OpSort::freed:
      return row.freed;
    case OpSort::at_return:
      return row.at_return;
  }
  return 0;
}

[[nodiscard]] auto too_little_memory(const model::Recording& recording) {
  return not_enough_memory(recording.budget, "to list the ops");
}

}  // namespace

bool sort_ops(const model::Recording& recording, const OpTable& table, const OpDevice& device, OpSort sort,
              Column<int32_t>& order) {
  const size_t rows = device.rows.size();
  order.clear();
  if (!order.resize(rows, 0)) return false;
  for (size_t i = 0; i < rows; ++i) order[i] = static_cast<int32_t>(i);
  const auto key = [&](int32_t i) {
    const OpRow& row = device.rows[i];
    return std::tuple(-key_of(row, sort), -row.gross, recording.strings.view(table.groups.name(row.group)),
                      i);
  };
  std::sort(order.data(), order.data() + rows, [&](int32_t a, int32_t b) { return key(a) < key(b); });
  return true;
}

OpList::OpList(const model::Recording& recording, OpTable&& table)
    : recording_(recording), table_(std::move(table)) {}

Result<std::unique_ptr<OpList>> OpList::make(const model::Recording& recording, const model::Part& part,
                                             int32_t ordinal, OpBy by, OpScope scope) {
  auto table = find_op_memory(recording, by, scope, device_name(part, ordinal));
  if (!table) return tl::unexpected(table.error());
  return std::unique_ptr<OpList>(new OpList(recording, std::move(*table)));
}

bool OpList::order_by(OpSort sort) {
  if (sorted_ == sort) return true;
  sorted_.reset();
  linked_ = false;
  if (!sort_ops(recording_, table_, *device(), sort, order_)) return false;
  sorted_ = sort;
  return true;
}

bool OpList::link() {
  if (linked_) return true;
  const Column<OpRow>& rows = device()->rows;
  const OpGroups& groups = table_.groups;
  const auto outermost = static_cast<int32_t>(rows.size());
  Column<int32_t> row_of_group(recording_.budget);
  for (Column<int32_t>* column : {&first_inside_, &next_beside_, &inside_}) column->clear();
  if (!row_of_group.resize(static_cast<size_t>(groups.count()), -1) ||
      !first_inside_.resize(rows.size() + 1, -1) || !next_beside_.resize(rows.size(), -1) ||
      !inside_.resize(rows.size() + 1, 0)) {
    return false;
  }
  for (size_t i = 0; i < rows.size(); ++i) row_of_group[rows[i].group] = static_cast<int32_t>(i);
  // From the last to the first, so that lists begin with the first.
  for (size_t i = order_.size(); i-- > 0;) {
    const int32_t row = order_[i];
    // Around it may be ops that hold no record of the device themselves: intervals that overlap in part.
    int32_t around = groups.parent(rows[row].group);
    while (around >= 0 && row_of_group[around] < 0) around = groups.parent(around);
    const int32_t parent = around < 0 ? outermost : row_of_group[around];
    next_beside_[row] = std::exchange(first_inside_[parent], row);
    ++inside_[parent];
  }
  linked_ = true;
  return true;
}

Result<OpList::Lines> OpList::flat(OpSort sort, int64_t first, int64_t count) {
  Lines found;
  if (device() == nullptr) return found;
  if (!order_by(sort)) return too_little_memory(recording_);
  found.all = static_cast<int64_t>(order_.size());
  for (int64_t i = first; i < std::min(found.all, first + count); ++i)
    found.lines.push_back({order_[i], 0, 0});
  return found;
}

Result<OpList::Lines> OpList::tree(OpSort sort, std::span<const int32_t> open, int64_t first, int64_t count) {
  Lines found;
  if (device() == nullptr) return found;
  if (!order_by(sort) || !link()) return too_little_memory(recording_);
  const size_t rows = device()->rows.size();
  Column<uint8_t> is_open(recording_.budget);
  if (!is_open.resize(rows, 0)) return too_little_memory(recording_);
  for (const int32_t row : open) {
    if (row >= 0 && static_cast<size_t>(row) < rows) is_open[row] = 1;
  }
  // A path from the outermost to where one is; every row is on it at most once.
  std::vector<int32_t> path = {first_inside_[rows]};
  while (!path.empty()) {
    const int32_t row = path.back();
    if (row < 0) {
      path.pop_back();
      continue;
    }
    if (found.all >= first && found.all < first + count)
      found.lines.push_back({row, static_cast<int32_t>(path.size()) - 1, inside_[row]});
    ++found.all;
    path.back() = next_beside_[row];
    if (is_open[row] != 0) path.push_back(first_inside_[row]);
  }
  return found;
}

}  // namespace gpustrata::analysis
