#include "engine/analysis/top.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "engine/analysis/block_sources.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

// What the blocks of a group have in common: stack; or function, file and line; -1 = none.
using GroupKey = std::array<int32_t, 3>;

[[nodiscard]] GroupKey key_of(const model::Recording& recording, const Who& who, TopBy by) {
  if (who.kind == Who::Kind::nothing) return {-1, -1, -1};
  const trace::Frame& frame = recording.frames[who.frame];
  if (by == TopBy::file) return {-1, frame.filename.value, -1};
  return {frame.name.value, frame.filename.value, by == TopBy::line ? std::max(frame.line, 0) : -1};
}

// One block alive.
struct LiveBlock {
  GroupKey key;
  int32_t rank;
  int64_t bytes;
  StackId stack;
};

struct OrderedGroup {
  TopGroup group;
  int32_t first_rank;
};

// Groups the blocks up to those born at `event` for which `is_meant` holds.
template <typename IsMeant>
[[nodiscard]] Result<Top> group_blocks(const model::Recording& recording, const model::Part& part,
                                       const replay::BlockLives& lifetimes, int32_t event, TopBy by,
                                       size_t limit, const IsMeant& is_meant) {
  const auto out_of_memory = [&] {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to group {} blocks.", lifetimes.count());
  };
  Top top(recording.budget);
  top.by = by;
  top.device = lifetimes.device;
  top.event = event;
  WhoOfStacks who_of_stacks(recording);
  Column<AddressAndRow> final_blocks(recording.budget);
  Column<LiveBlock> blocks(recording.budget);
  if ((by != TopBy::stack && !who_of_stacks.prepare()) ||
      !collect_final_blocks(recording, part, lifetimes.device, final_blocks)) {
    return out_of_memory();
  }
  for (int32_t rank = 0; rank < lifetimes.count(); ++rank) {
    const auto r = static_cast<size_t>(rank);
    const int32_t born = lifetimes.born[r];
    if (born > event) break;  // ranks are in the order of birth
    if (!is_meant(r)) continue;
    StackId stack;
    if (born >= 0) stack = recording.events.stack[static_cast<size_t>(lifetimes.events.first + born)];
    if (stack.is_none() || recording.stacks.leaf(stack) < 0) {
      int32_t final_block = born < 0 ? lifetimes.source[r] : -1;
      if (final_block < 0 && lifetimes.freed[r] >= lifetimes.events.count) {
        final_block = row_at(final_blocks, lifetimes.address(recording, rank));
      }
      const int32_t freed = find_free(recording, lifetimes, rank, final_block).event;
      const BlockStack chosen = choose_stack(recording, lifetimes, rank, final_block, freed);
      stack = chosen.from == StackFrom::nothing ? StackId{} : chosen.stack;
    }
    LiveBlock one{{stack.value, -1, -1}, rank, lifetimes.size[r], stack};
    if (by != TopBy::stack) one.key = key_of(recording, who_of_stacks(stack), by);
    if (!blocks.push_back(one)) return out_of_memory();
    add_saturated(top.bytes, one.bytes);
    ++top.count;
  }

  std::sort(blocks.data(), blocks.data() + blocks.size(), [](const LiveBlock& a, const LiveBlock& b) {
    return std::tie(a.key, a.rank) < std::tie(b.key, b.rank);
  });
  Column<OrderedGroup> groups(recording.budget);
  int64_t largest = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const LiveBlock& one = blocks[i];
    if (i == 0 || one.key != blocks[i - 1].key) {
      OrderedGroup next{{}, one.rank};
      if (by == TopBy::stack) {
        next.group.stack = one.stack;
      } else {
        next.group.who = who_of_stacks(one.stack);
      }
      if (!groups.push_back(next)) return out_of_memory();
      largest = -1;
    }
    TopGroup& group = groups.back().group;
    add_saturated(group.bytes, one.bytes);
    ++group.count;
    if (one.bytes > largest) group.largest_rank = one.rank;
    largest = std::max(largest, one.bytes);
  }
  std::sort(groups.data(), groups.data() + groups.size(), [](const OrderedGroup& a, const OrderedGroup& b) {
    return std::tuple(-a.group.bytes, -a.group.count, a.first_rank) <
           std::tuple(-b.group.bytes, -b.group.count, b.first_rank);
  });
  top.all_groups = static_cast<int64_t>(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i < limit) {
      if (!top.groups.push_back(groups[i].group)) return out_of_memory();
    } else {
      add_saturated(top.other_bytes, groups[i].group.bytes);
      top.other_count += groups[i].group.count;
    }
  }
  return top;
}

}  // namespace

Result<Top> find_top(const model::Recording& recording, const model::Part& part,
                     const replay::BlockLives& lifetimes, int32_t event, TopBy by, size_t limit,
                     std::span<const uint8_t> matched) {
  return group_blocks(recording, part, lifetimes, event, by, limit, [&](size_t rank) {
    return lifetimes.freed[rank] > event && (matched.empty() || matched[rank] != 0);
  });
}

Result<Top> find_never_freed(const model::Recording& recording, const model::Part& part,
                             const replay::BlockLives& lifetimes, int32_t from, int32_t until, TopBy by,
                             size_t limit) {
  return group_blocks(recording, part, lifetimes, until, by, limit, [&](size_t rank) {
    return lifetimes.born[rank] >= from && lifetimes.freed[rank] >= lifetimes.events.count;
  });
}

}  // namespace gpustrata::analysis
