#include "engine/analysis/ops/op_groups.h"

#include <algorithm>
#include <utility>

#include "engine/base/hash_seed.h"

namespace gpustrata::analysis {

using model::SpanKind;

size_t PairIds::home_of(Pair pair) const {
  const uint64_t both =
      uint64_t{static_cast<uint32_t>(pair.first)} << 32 | static_cast<uint32_t>(pair.second);
  return static_cast<size_t>(mix_hash(both ^ seed_)) & (slots_.size() - 1);
}

size_t PairIds::slot_of(Pair pair) const {
  size_t slot = home_of(pair);
  while (slots_[slot] >= 0 && pairs_[slots_[slot]] != pair) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

// False: memory was refused, the table is as before.
bool PairIds::rebuild(size_t size, uint64_t seed) {
  Column<int32_t> made(*budget_);
  if (!made.resize(size, -1)) return false;
  slots_ = std::move(made);
  seed_ = seed;
  for (int32_t id = 0; id < count(); ++id) slots_[slot_of(pairs_[id])] = id;
  return true;
}

int32_t PairIds::intern(Pair pair) {
  constexpr size_t kSmallest = 256;
  if (pairs_.size() * 2 >= slots_.size() && !rebuild(std::max(kSmallest, slots_.size() * 2), seed_))
    return -1;
  size_t slot = slot_of(pair);
  if (slots_[slot] >= 0) return slots_[slot];
  const size_t probes = (slot - home_of(pair)) & (slots_.size() - 1);
  if (probes > kMostProbes && rebuild(slots_.size(), fresh_hash_seed())) slot = slot_of(pair);
  if (!pairs_.push_back(pair)) return -1;
  return slots_[slot] = count() - 1;
}

// What is around the spans that begin in this one.
bool OpGroups::inherit(int32_t row, Column<int32_t>& around) {
  const model::SpanTable& spans = recording_.spans;
  const int32_t parent = spans.parent[row];
  int32_t& own = around[row - rows_.first];
  own = parent < rows_.first ? -1 : around[parent - rows_.first];
  const SpanKind kind = spans.kind[row];
  const bool extends = by_ == OpBy::path ? is_op(kind) : by_ == OpBy::stack && kind == SpanKind::python;
  if (extends) {
    own = chains_.intern({spans.name[row].value, own});
    return own >= 0;
  }
  if (by_ == OpBy::module && kind == SpanKind::python &&
      recording_.strings.view(spans.name[row]).starts_with("nn.Module: ")) {
    own = code_of(spans.name[row]);
  }
  return true;
}

int32_t OpGroups::detail_of(int32_t row, const Column<int32_t>& around) const {
  const model::SpanTable& spans = recording_.spans;
  if (by_ == OpBy::shape) return code_of(spans.shapes[row]);  // nothing is around it
  const int32_t parent = spans.parent[row];
  const int32_t outer = parent < rows_.first ? -1 : around[parent - rows_.first];
  switch (by_) {
    case OpBy::op:
    case OpBy::shape:
      return -1;
    case OpBy::path:
      return outer;
    case OpBy::module:
      return spans.module[row].is_none() ? outer : code_of(spans.module[row]);
    case OpBy::stack:
      return outer >= 0 ? outer : code_of(spans.calls[row]);
  }
  return -1;
}

bool OpGroups::build(model::RowRange rows) {
  const model::SpanTable& spans = recording_.spans;
  rows_ = rows;
  Column<int32_t> around(recording_.budget);
  const bool inherits = by_ == OpBy::path || by_ == OpBy::module || by_ == OpBy::stack;
  if (!of_.resize(static_cast<size_t>(rows.count), -1) ||
      (inherits && !around.resize(static_cast<size_t>(rows.count), -1))) {
    return false;
  }
  for (int32_t row = rows.first; row < rows.end(); ++row) {
    if (inherits && !inherit(row, around)) return false;
    if (!is_op(spans.kind[row])) continue;
    const int32_t detail = inherits || by_ == OpBy::shape ? detail_of(row, around) : -1;
    const int32_t group = groups_.intern({spans.name[row].value, detail});
    if (group < 0) return false;
    of_[row - rows.first] = group;
  }
  return true;
}

StringId OpGroups::text(int32_t group) const {
  const int32_t detail = groups_[group].second;
  return detail < -1 ? StringId{-2 - detail} : StringId{};
}

std::vector<StringId> OpGroups::around(int32_t group, size_t most) const {
  std::vector<StringId> names;
  for (int32_t at = groups_[group].second; at >= 0 && names.size() < most; at = chains_[at].second)
    names.push_back(StringId{chains_[at].first});
  return names;
}

}  // namespace gpustrata::analysis
