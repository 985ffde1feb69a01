// Memory after each operator call, as MemoryTracker samples it: peak, what operators and modules generated, forward
// and backward apart.
//
// What an operator generated is the allocated memory after it less that after the operator before it: also what
// Python freed in between. The first operator has none before it, and generated nothing that is known. A module is
// the path in front of ".forward." of an operator's name; operators of a parent after a child returned carry the
// child's name, and those of the backward pass the last one of the forward pass (MemoryTracker never sets it back).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

// "layer2.forward.mm.default_1": module "layer2", operator "mm.default", call 1. The last is the number of the call
// of that operator in the whole run, so that names of two runs differ behind an operator that only one has.
struct OperatorName {
  std::string_view module;  // empty: the root, or before any module ran
  std::string_view op;
};
[[nodiscard]] OperatorName parse_operator(std::string_view name);

struct OperatorDelta {
  int64_t op = 0;
  StringId name;
  int64_t bytes = 0;
};

struct OperatorMark {
  StringId name;
  int64_t op = 0;
};

struct ModuleSum {
  std::string_view module;  // of the recording's texts
  int64_t ops = 0;
  int64_t bytes = 0;
};

// The level after an operator; the first of equal ones.
struct OperatorLevel {
  int64_t bytes = 0;
  int64_t op = 0;
  StringId name;
};

// Operators from one marker to the next.
struct OperatorPhase {
  std::string_view name;  // "forward", "backward"
  int64_t ops = 0;
  int64_t first_op = 0, last_op = 0;
  int64_t bytes = 0;  // generated
  std::optional<OperatorLevel> peak;
};

struct OperatorMemory {
  explicit OperatorMemory(Budget& budget) : marks(budget), top(budget), modules(budget), phases(budget) {}

  int64_t ops = 0;
  std::optional<int64_t> retries;  // of allocations, since the process began
  std::optional<OperatorLevel> peak, active_peak, reserved_peak;
  std::optional<OperatorLevel> unused;  // where reserved exceeds allocated memory most; bytes is by how much
  int64_t unused_of_reserved = 0;       // reserved bytes there
  Column<OperatorMark> marks;           // in order of operators
  Column<OperatorDelta> top;            // the most first; of equal ones in order of operators
  Column<ModuleSum> modules;            // by first appearance
  Column<OperatorPhase> phases;         // forward and backward, if their markers are there
};

// `part` is one whose series are operators. `most` entries in `top`. O(n log n). Error: limit_exceeded.
[[nodiscard]] Result<OperatorMemory> operator_memory(const model::Recording& recording,
                                                     const model::Part& part, size_t most);

// The first part whose series are operators; null if there is none.
[[nodiscard]] const model::Part* find_operators(const model::Recording& recording);

}  // namespace gpustrata::analysis
