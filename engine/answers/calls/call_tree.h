// Flame graphs, their tables, and what a range did, as JSON.
#pragma once

#include <span>

#include "engine/analysis/calls/call_tree.h"
#include "engine/analysis/calls/call_tree_layout.h"
#include "engine/analysis/calls/call_tree_rows.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// What a text found.
struct TreeSearch {
  const Column<uint8_t>* keys = nullptr;  // null: nothing was looked for
  analysis::TreeFound found;
};

// `rest`: what another recording has beyond its facts. {"unit": "bytes"|"blocks"|"byte_us"|"byte_events", "total","grew","lit","blocks","rest", "found":{"weight","grew","frames"}|null,
//  "steps","rows","cut","frames":[frame],"rects":{}}; the columns of "rects" are written beside it: frame (index of
//  "frames", -1 = the root), row, parent, left, right, weight, self, grew, lit, blocks, hit.
// frame = {"key","label","name","file","line","from": "own"|"package"|"library"|"interpreter"|null, "filter"|null}: key
//  -1 = blocks without a stack; "filter" = the text that means its blocks. Texts are cut at 4 KiB, labels at 240 bytes.
// `frame_of_rect` becomes that column; shorter than the rectangles if there was no memory for it.
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::CallTree& tree,
             const analysis::TreeLayout& layout, const TreeSearch& search, double rest,
             Column<int32_t>& frame_of_rect);

// {"unit","total","grew","rest","count","rows":[{frame members, "weight","self","grew","self_grew","blocks"}]}
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::CallTree& tree, double rest,
             int64_t count, std::span<const analysis::FrameRow> rows);

// {"from","to","level_before","level_after","peak":{"event","bytes"},"allocated":{"bytes","blocks"},"kept","passed","freed"}
void to_json(JsonWriter& json, const analysis::RangeTotals& totals);

}  // namespace gpustrata::answers
