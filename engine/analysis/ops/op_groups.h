// What rows of an op table stand for: ops of one name, on one path of ops, with the same shapes, of one module, called
// from one place.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/base/words.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

// op: the name; path: name and the ops around it; shape: name and `Input Dims`; module: name and innermost nn.Module;
// stack: name and the Python functions around it, without those its `Call stack`.
GPUSTRATA_WORDS(OpBy, op, path, shape, module, stack);

[[nodiscard]] inline bool is_op(model::SpanKind kind) {
  return kind == model::SpanKind::op || kind == model::SpanKind::annotation;
}

// Pairs of numbers get numbers of their own, from 0 on. Files choose the pairs: see base/hash_seed.h.
class PairIds {
 public:
  struct Pair {
    int32_t first;
    int32_t second;
    bool operator==(const Pair&) const = default;
  };
  explicit PairIds(Budget& budget) : budget_(&budget), pairs_(budget), slots_(budget) {}
  // -1: memory was refused.
  [[nodiscard]] int32_t intern(Pair pair);
  [[nodiscard]] const Pair& operator[](int32_t id) const { return pairs_[id]; }
  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(pairs_.size()); }

 private:
  [[nodiscard]] bool rebuild(size_t size, uint64_t seed);
  [[nodiscard]] size_t home_of(Pair pair) const;
  // Slot of the pair, or the free one where it belongs.
  [[nodiscard]] size_t slot_of(Pair pair) const;

  Budget* budget_;
  Column<Pair> pairs_;
  Column<int32_t> slots_;
  uint64_t seed_ = 0;
};

class OpGroups {
 public:
  OpGroups(const model::Recording& recording, OpBy by) : recording_(recording), by_(by) {}

  // Of the spans of `rows`. O(spans). False: memory was refused.
  [[nodiscard]] bool build(model::RowRange rows);

  [[nodiscard]] OpBy by() const { return by_; }
  [[nodiscard]] int32_t count() const { return groups_.count(); }
  // Group of a span, -1 = it is no op.
  [[nodiscard]] int32_t of(int32_t span) const { return of_[span - rows_.first]; }
  [[nodiscard]] StringId name(int32_t group) const { return StringId{groups_[group].first}; }
  // By path: the group of the op right around it, -1 = there is none.
  [[nodiscard]] int32_t parent(int32_t group) const { return by_ == OpBy::path ? groups_[group].second : -1; }
  // Shapes, the module, or a whole `Call stack`; none = there is none.
  [[nodiscard]] StringId text(int32_t group) const;
  // Names of the ops or Python functions around it, innermost first, at most `most`.
  [[nodiscard]] std::vector<StringId> around(int32_t group, size_t most) const;

 private:
  // A chain of names is >= 0, a text is below -1, -1 is nothing.
  [[nodiscard]] static int32_t code_of(StringId text) { return text.is_none() ? -1 : -2 - text.value; }
  [[nodiscard]] bool inherit(int32_t row, Column<int32_t>& around);
  [[nodiscard]] int32_t detail_of(int32_t row, const Column<int32_t>& around) const;

  const model::Recording& recording_;
  OpBy by_;
  model::RowRange rows_;
  Column<int32_t> of_{recording_.budget};
  PairIds groups_{recording_.budget};  // name, and what else tells it
  PairIds chains_{
      recording_
          .budget};  // name, and the chain around it; by path they are the groups, under the same numbers
};

}  // namespace gpustrata::analysis
