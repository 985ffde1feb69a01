// What is alive at a moment, grouped by who asked for it: `gpustrata top`.
//
// Alive at event e are the blocks whose life covers the state after e (replay/block_lives.h); -1 is the state
// before the first event. The stack of a block is the one its details show (block_sources.h), who asked for
// it is said by own_frame.h. O(blocks log groups + frames + nodes of the stack table).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/analysis/moments.h"
#include "engine/analysis/own_frame.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

enum class TopBy : uint8_t { stack, line, function, file };

struct TopGroup {
  StackId stack;              // by stack; none = blocks without one
  Who who;                    // by the others: one that they have in common; nothing = blocks without a stack
  int64_t bytes = 0;          // requested
  int64_t count = 0;          // blocks
  int32_t largest_rank = -1;  // rank of its largest block, of equal ones the lowest
};

struct Top {
  explicit Top(Budget& budget) : groups(budget) {}

  TopBy by = TopBy::stack;
  int32_t device = 0;
  int32_t event = -1;            // the state after it
  int64_t bytes = 0, count = 0;  // of everything alive
  Column<TopGroup> groups;       // largest first, then by count, then by first block; at most `limit`
  int64_t all_groups = 0;
  int64_t other_bytes = 0, other_count = 0;  // in the groups beyond `limit`
};

// One device at the moment asked for.
struct DeviceTop {
  const model::Part* part = nullptr;
  int32_t device = 0;
  Moments moments;
  std::optional<Top> top;  // none: it has no such event
};

// `event`: -1 to lifetimes.events.count - 1. `matched`: per rank 0 or 1, empty = all. Error: limit_exceeded (memory).
[[nodiscard]] Result<Top> find_top(const model::Recording& recording, const model::Part& part,
                                   const replay::BlockLives& lifetimes, int32_t event, TopBy by, size_t limit,
                                   std::span<const uint8_t> matched = {});

// The same of the blocks that an event of [from, until] allocated and that are never freed; from = -1: those from before
// the first event, too. `event` of the answer is `until`.
[[nodiscard]] Result<Top> find_never_freed(const model::Recording& recording, const model::Part& part,
                                           const replay::BlockLives& lifetimes, int32_t from, int32_t until,
                                           TopBy by, size_t limit);

}  // namespace gpustrata::analysis
