// What grew between two recordings: memory by who asked for it, and segments that only one of them has.
//
// The recordings may be of one process at two moments, or of two runs. Nothing but texts connects them:
// groups are the same if their stacks are shown as the same lines (frames as file:line:name, hidden ones left
// out), or if function and file are the same. Segments are the same if address and size are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/analysis/flame_graph.h"
#include "engine/analysis/top.h"
#include "engine/base/json_writer.h"
#include "engine/replay/memory_at.h"

namespace memstrata::analysis {

struct BeforeAfter {
  int64_t before = 0, after = 0;

  [[nodiscard]] int64_t growth() const { return after - before; }
  BeforeAfter& operator+=(const BeforeAfter& more) {
    before += more.before;
    after += more.after;
    return *this;
  }
};

struct ComparedGroup {
  TopGroup group;           // as the first recording that has it says; its own bytes and count are not meant
  bool only_after = false;  // then `group` is of the recording after
  BeforeAfter bytes, blocks;

  [[nodiscard]] bool changed() const { return bytes.growth() != 0 || blocks.growth() != 0; }
};

struct Comparison {
  BeforeAfter bytes, blocks;              // of everything alive
  std::vector<ComparedGroup> rows;        // that changed, the one that grew most first; at most `limit`
  int64_t changed = 0, unchanged = 0;     // groups
  BeforeAfter other_bytes, other_blocks;  // in the groups that changed, beyond `limit`
};

// One recording and what is alive in it, from find_top() without a limit.
struct Side {
  const model::Recording& recording;
  const Top& top;
};

// O(groups * frames).
[[nodiscard]] Comparison compare_groups(const Side& before, const Side& after, TopBy by, size_t limit);

struct ComparedSegments {
  std::vector<replay::SegmentAt> only_before, only_after;  // largest first, then by address
  int64_t only_before_bytes = 0, only_after_bytes = 0;
  int64_t in_both = 0, in_both_bytes = 0;
};
// Both ascend by address.
[[nodiscard]] ComparedSegments compare_segments(std::span<const replay::SegmentAt> before,
                                                std::span<const replay::SegmentAt> after);

// Bytes that only one side has, per stack, under the roots only_before and only_after.
[[nodiscard]] FoldedStacks difference_of(const FoldedStacks& before, const FoldedStacks& after);

// Members "requested_bytes" and "blocks", each {"before","after","growth"}, "groups_changed",
// "groups_unchanged", "rows":[{"bytes":{...},"blocks":{...}, and those of write_group()}],
// "other":{"bytes":{...},"blocks":{...}}.
void write_comparison(JsonWriter& json, const Side& before, const Side& after, const Comparison& comparison,
                      TopBy by);

// {"in_both","in_both_bytes","only_before_bytes","only_after_bytes","only_before":[{"address":"0x...",
// "total_size"}],"only_after":[...]}.
void write_compared_segments(JsonWriter& json, const ComparedSegments& segments);

}  // namespace memstrata::analysis
