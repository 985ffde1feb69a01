// What changed between two runs, operator by operator: calls are the same if they are the n-th call of the same operator
// in the same module. So an operator that only one run has shifts nothing but its own.
#pragma once

#include "engine/analysis/compare/compare.h"
#include "engine/analysis/series/operator_memory.h"

namespace gpustrata::analysis {

struct OperatorChange {
  OperatorName name;
  int32_t ordinal = 0;                    // of the call, from 0, among those of the operator in the module
  int64_t op_before = -1, op_after = -1;  // -1 = only the other run has it
  BeforeAfter bytes;                      // generated; 0 where the run does not have it
};

struct ModuleChange {
  std::string_view module;
  BeforeAfter ops, bytes;
};

struct OperatorComparison {
  explicit OperatorComparison(Budget& budget) : changes(budget), modules(budget) {}

  BeforeAfter ops, peak;
  int64_t matched = 0, only_before = 0, only_after = 0;  // calls
  int64_t changed = 0;                                   // of all calls, those with another number of bytes
  Column<OperatorChange> changes;                        // the largest growth first, in the order of AFTER
  Column<ModuleChange> modules;                          // the largest growth first
};

// A recording and a part of it whose series are operators.
struct OperatorRun {
  const model::Recording& recording;
  const model::Part& part;
};

// At most `most` changes. O(n log n); the budget is that of `after`. Error: limit_exceeded.
[[nodiscard]] Result<OperatorComparison> compare_operators(const OperatorRun& before,
                                                           const OperatorRun& after, size_t most);

}  // namespace gpustrata::analysis
