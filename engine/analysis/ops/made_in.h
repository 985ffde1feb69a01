// The ops in which allocations of a device were made, as a trace of the same run told them (replay/op_finder.h): a page gives
// them to the engine that has the snapshot, and filters mean them from then on.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/column.h"
#include "engine/base/string_pool.h"

namespace gpustrata::analysis {

struct MadeIn {
  explicit MadeIn(Budget& budget)
      : names(budget), parent(budget), name(budget), is_op(budget), node(budget) {}

  StringPool names;
  // Per node of a path of ops and functions: a lower number or -1, its name.
  Column<int32_t> parent;
  Column<StringId> name;
  Column<uint8_t> is_op;
  // Per event of the device: the innermost node; -1 = none.
  Column<int32_t> node;

  // Sets for each node whether `holds(name, is_op)` of it or of one around it. False: memory was refused.
  template <typename Predicate>
  [[nodiscard]] bool mark(Predicate holds, Column<uint8_t>& marks) const {
    if (!marks.resize(parent.size(), 0)) return false;
    for (size_t i = 0; i < parent.size(); ++i) {
      const bool around = parent[i] >= 0 && marks[parent[i]] != 0;
      marks[i] = around || holds(names.view(name[i]), is_op[i] != 0) ? 1 : 0;
    }
    return true;
  }
};

}  // namespace gpustrata::analysis
