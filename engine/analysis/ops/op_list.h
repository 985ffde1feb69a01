// The op table of one device as a page lists it: the rows of a window, sorted, flat or as the tree of ops within ops.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/analysis/ops/op_memory.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/base/words.h"

namespace gpustrata::analysis {

GPUSTRATA_WORDS(OpSort, net, self, gross, peak, at_peak, freed, at_return);

// Numbers of rows of the device, the most first; by self and net also the least are far from 0, so these sort by size.
// Ties by what was allocated, then by name. False: memory was refused.
[[nodiscard]] bool sort_ops(const model::Recording& recording, const OpTable& table, const OpDevice& device,
                            OpSort sort, Column<int32_t>& order);

struct OpLine {
  int32_t row = 0;     // of OpDevice::rows
  int32_t depth = 0;   // of a tree
  int32_t inside = 0;  // ops right inside of it that hold a record
};

class OpList {
 public:
  // Refers to the recording. Error: limit_exceeded.
  [[nodiscard]] static Result<std::unique_ptr<OpList>> make(const model::Recording& recording,
                                                            const model::Part& part, int32_t ordinal, OpBy by,
                                                            OpScope scope);

  [[nodiscard]] const OpTable& table() const { return table_; }
  // Null: the device has no memory records.
  [[nodiscard]] const OpDevice* device() const {
    return table_.devices.empty() ? nullptr : &table_.devices[0];
  }

  struct Lines {
    int64_t all = 0;  // that could be seen
    std::vector<OpLine> lines;
  };
  // Lines [first, first + count). A tree (of OpBy::path only) shows what is inside of the rows that are `open`. O(rows log
  // rows) when the sort is another one, else O(lines before them). Error: limit_exceeded.
  [[nodiscard]] Result<Lines> flat(OpSort sort, int64_t first, int64_t count);
  [[nodiscard]] Result<Lines> tree(OpSort sort, std::span<const int32_t> open, int64_t first, int64_t count);

 private:
  explicit OpList(const model::Recording& recording, OpTable&& table);
  [[nodiscard]] bool order_by(OpSort sort);
  [[nodiscard]] bool link();

  const model::Recording& recording_;
  OpTable table_;
  std::optional<OpSort> sorted_;
  Column<int32_t> order_{recording_.budget};
  // The tree in the order of the sort: of each row its first one inside, the next one beside it, how many are inside. The
  // last entry of the first is that of what lies in nothing.
  bool linked_ = false;
  Column<int32_t> first_inside_{recording_.budget}, next_beside_{recording_.budget},
      inside_{recording_.budget};
};

}  // namespace gpustrata::analysis
