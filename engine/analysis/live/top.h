// What blocks are in use at a moment, or came and stay, by who asked for them: `gpustrata top`.
//
// The stack of a block is the one its details show (block_sources.h), who asked for it is said by own_frame.h.
// O(blocks + groups log groups + frames + nodes of the stack table).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/analysis/live/moments.h"
#include "engine/analysis/live/weigh.h"
#include "engine/analysis/stacks/keys.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

struct TopGroup : BlockSum {
  StackId stack;  // by stack and shown: one of them; none = blocks without one
  Who who;        // by the others: what they have in common; nothing = blocks without a stack
};

struct Top {
  explicit Top(Budget& budget) : groups(budget) {}

  By by = By::stack;
  int32_t device = 0;
  int32_t event = -1;             // the state after it
  int64_t bytes = 0, blocks = 0;  // of all
  Column<TopGroup> groups;        // as BlockSums are ordered; at most `limit`
  int64_t all_groups = 0;
  int64_t other_bytes = 0, other_blocks = 0;  // in the groups beyond `limit`

  [[nodiscard]] int64_t other_groups() const { return all_groups - static_cast<int64_t>(groups.size()); }
};

// One device at the moment asked for.
struct DeviceTop {
  const model::Part* part = nullptr;
  int32_t device = 0;
  Moments moments;
  std::optional<Top> top;  // none: it has no such event
};

inline constexpr size_t kAllGroups = static_cast<size_t>(-1);

// Of the blocks that `when` and `matched` (per rank 0 or 1, empty = all) mean; `event` is when.born_until. By anything but
// category. `keys`: where they are at hand. Error: limit_exceeded.
[[nodiscard]] Result<Top> find_top(const model::Recording& recording, const model::Part& part,
                                   const replay::BlockLives& lives, const When& when, By by, size_t limit,
                                   std::span<const uint8_t> matched = {}, const Keys* keys = nullptr);

// Of sums by stack that are at hand. `device` and `event` are the caller's to say.
[[nodiscard]] Result<Top> top_of(const model::Recording& recording, const BlockSums& by_stack, By by,
                                 size_t limit, const Keys* keys = nullptr);

}  // namespace gpustrata::analysis
