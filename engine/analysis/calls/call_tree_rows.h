// A call tree as a table: a row for each frame (line, function, file), with what it holds itself and with its callees.
//
//   self   blocks that the frame itself asked for: their path ends (inverted: begins) with it
//   total  blocks with the frame anywhere in their path, each once, however often it calls itself
// Of a difference both are what grew less what shrank, by `change` as well; the share of a row is by its width.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/analysis/calls/call_tree.h"
#include "engine/base/words.h"

namespace gpustrata::analysis {

struct FrameRow {
  int32_t key = -1;  // as CallTree::Node::key
  double total = 0, total_grew = 0;
  double self = 0, self_grew = 0;
  int64_t blocks = 0;  // of total
};

GPUSTRATA_WORDS(RowOrder, name, total, self, blocks, change);

// All rows, ordered; equal ones by key. `keys`: those of find_keys_with(); empty = all rows. O(nodes + rows log rows).
// Error: limit_exceeded.
[[nodiscard]] Result<Column<FrameRow>> find_frame_rows(const model::Recording& recording,
                                                       const CallTree& tree, RowOrder order, bool descending,
                                                       std::span<const uint8_t> keys);

}  // namespace gpustrata::analysis
