// Flame graphs, their tables, and what a range did, as JSON.
#pragma once

#include <span>

#include "engine/analysis/calls/call_tree.h"
#include "engine/analysis/calls/call_tree_layout.h"
#include "engine/analysis/calls/call_tree_rows.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// What a text found.
struct TreeSearch {
  const Column<uint8_t>* keys = nullptr;  // null: nothing was looked for
  analysis::TreeFound found;
};

// A tree as it is drawn. Texts of frames are cut at 4 KiB, labels at 240 bytes.
struct ShownTree {
  const analysis::CallTree& tree;
  const analysis::TreeLayout& layout;
  const TreeSearch& search;
  double rest;  // what another recording has beyond its facts
  // Becomes a column beside "rects": indices of "frames". Shorter than the rectangles if there was no memory for it.
  Column<int32_t>& frame_of_rect;
};
void describe(Members& m, const model::Recording& recording, const ShownTree& shown);
// The same as a table: `count` rows in all.
struct ShownRows {
  const analysis::CallTree& tree;
  double rest;
  int64_t count;
  std::span<const analysis::FrameRow> rows;
};
void describe(Members& m, const model::Recording& recording, const ShownRows& shown);

void describe(Members& m, const analysis::RangeTotals& totals);

}  // namespace gpustrata::answers
