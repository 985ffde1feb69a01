// A call tree as rectangles: a flame graph of so many pixels.
//
// The node at the end of `path` (keys from the root's child on) fills the width; those above it do, too, and
// stand in the rows before it. Where the path ends in this tree (another moment has other calls) its last node that
// exists counts. Children lie side by side, widest first, from their parent's left edge on; those narrower than a pixel are left
// out, and what is above them. O(rectangles + children of those drawn).
#pragma once

#include <cstdint>
#include <span>

#include "engine/analysis/calls/call_tree.h"

namespace gpustrata::analysis {

struct TreeWindow {
  std::span<const int32_t> path;
  int32_t width = 0;  // pixels
  int32_t rows = 0;   // at most so many
};

struct TreeRect {
  int32_t node = 0;
  int32_t parent = -1;        // number of a rectangle
  int32_t row = 0;            // 0 = the root
  float left = 0, right = 0;  // pixels
};

struct TreeLayout {
  explicit TreeLayout(Budget& budget) : rects(budget) {}

  static constexpr size_t kMostRects = 50'000;

  Column<TreeRect> rects;  // row after row
  int32_t rows = 0;        // that have a rectangle
  int32_t steps = 0;       // of the path that exist
  bool cut = false;        // more rows, or more rectangles, than were wanted
};

// Error: limit_exceeded.
[[nodiscard]] Result<TreeLayout> lay_out(const model::Recording& recording, const CallTree& tree,
                                         const TreeWindow& window);

// Which frames a text means: a part of file:line:function, function in file, or file, as `by` has it; ASCII case is
// ignored. Per frame 0 or 1, of keys (find_frame_keys) only. False = no memory. Blank = none.
[[nodiscard]] bool find_keys_with(const model::Recording& recording, const CallTree& tree,
                                  std::string_view text, Column<uint8_t>& keys);

// Width of the blocks below any node of those keys, each once; grown as well.
struct TreeFound {
  double width = 0, grew = 0;
  int64_t frames = 0;  // different ones
};
// False = no memory.
[[nodiscard]] bool find_in_tree(const model::Recording& recording, const CallTree& tree,
                                const Column<uint8_t>& keys, TreeFound& found);

}  // namespace gpustrata::analysis
