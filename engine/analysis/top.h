// What is alive at a moment, grouped by who asked for it: `memstrata top`.
//
// Alive at event e are the blocks whose life covers the state after e (replay/block_lives.h); -1 is the state
// before the first event. The stack of a block is the one its details show (block_sources.h). Function and
// file are those of the innermost frame in a Python file, because below it every stack ends in the same
// functions of the allocator; of a stack without one, of the innermost frame that PyTorch's own viewer shows
// (frame_filter.h). O(blocks log groups).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/json_writer.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace memstrata::analysis {

enum class TopBy : uint8_t { stack, function, file };

struct TopGroup {
  StackId stack;        // by stack; none = blocks without one
  StringId name, file;  // by function both, by file only `file`; none = blocks without a stack
  int64_t bytes = 0;    // requested
  int64_t count = 0;    // blocks
};

struct Top {
  int32_t device = 0;
  int32_t event = -1;            // the state after it
  int64_t bytes = 0, count = 0;  // of everything alive
  std::vector<TopGroup> groups;  // largest first, then by count, then by first block; at most `limit`
  int64_t all_groups = 0;
  int64_t other_bytes = 0, other_count = 0;  // in the groups beyond `limit`
};

// `event`: -1 to lifetimes.events.count - 1. Error: limit_exceeded (memory).
[[nodiscard]] Result<Top> find_top(const model::Recording& recording, const model::Part& part,
                                   const replay::BlockLives& lifetimes, int32_t event, TopBy by,
                                   size_t limit);

// Lines of a stack as they are shown, innermost first: hidden frames are left out unless all are hidden;
// "file:line:name", repeated ones once with " (repeats N times)".
[[nodiscard]] std::vector<std::string> shown_lines(const model::Recording& recording, StackId stack);

// Who a group is, as members: "stack":[line,...]|null, or "function"|null and "file"|null, or "file".
void write_group(JsonWriter& json, const model::Recording& recording, const TopGroup& group, TopBy by);

// {"device","event","requested_bytes","blocks","groups": n,"rows":[{"bytes","blocks","share", and
// those of write_group()}],"other":{"bytes","blocks"}}; without the outer
// braces, so that callers can add members.
void write_top(JsonWriter& json, const model::Recording& recording, const Top& top, TopBy by);

}  // namespace memstrata::analysis
