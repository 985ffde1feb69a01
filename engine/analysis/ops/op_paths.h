// Paths of ops of a profiler's trace as a tree whose nodes have numbers: an op or a Python function, called where its parent
// is. Spans that are called alike share a node. The numbers are the same whenever the paths of a trace are found.
#pragma once

#include <cstdint>

#include "engine/analysis/ops/op_groups.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

class OpPaths {
 public:
  // Of the spans of all traces; refers to nothing. O(spans). Error: limit_exceeded.
  [[nodiscard]] static Result<OpPaths> make(const model::Recording& recording);

  [[nodiscard]] int32_t count() const { return nodes_.count(); }
  // Of a row of SpanTable; of what is neither op nor function that of what it lies in; -1 = it lies in nothing.
  [[nodiscard]] int32_t of(int32_t span) const { return of_[span]; }
  // A lower number; -1 = the path begins here.
  [[nodiscard]] int32_t parent(int32_t node) const { return nodes_[node].second; }
  [[nodiscard]] bool is_op(int32_t node) const { return nodes_[node].first >= 0; }
  [[nodiscard]] StringId name(int32_t node) const {
    const int32_t code = nodes_[node].first;
    return StringId{code >= 0 ? code : -2 - code};
  }

 private:
  explicit OpPaths(Budget& budget) : of_(budget), nodes_(budget) {}
  Column<int32_t> of_;
  PairIds nodes_;  // the name, below -1 of a function; the parent
};

}  // namespace gpustrata::analysis
