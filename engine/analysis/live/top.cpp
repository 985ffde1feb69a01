#include "engine/analysis/live/top.h"

#include <algorithm>

#include <utility>

#include "engine/analysis/stacks/shown_stacks.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] tl::unexpected<Error> no_memory(const BlockSums& sums) {
  return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to group {} blocks.", sums.blocks());
}

// Ordered groups; `name` says who a sum is of.
template <typename Name>
[[nodiscard]] Result<Top> named(const BlockSums& sums, By by, size_t limit, Budget& budget,
                                const Name& name) {
  Top top(budget);
  top.by = by;
  top.bytes = sums.bytes();
  top.blocks = sums.blocks();
  top.all_groups = static_cast<int64_t>(sums.rows().size());
  if (!top.groups.reserve(std::min(limit, sums.rows().size()))) return no_memory(sums);
  for (const BlockSum& sum : sums.rows()) {
    if (top.groups.size() < limit) {
      TopGroup group{sum, {}, {}};
      name(group);
      (void)top.groups.push_back(group);
    } else {
      add_saturated(top.other_bytes, sum.bytes);
      top.other_blocks += sum.blocks;
    }
  }
  return top;
}

[[nodiscard]] Result<Top> top_of_shown(const model::Recording& recording, const BlockSums& by_stack,
                                       size_t limit) {
  StackGroups groups(recording);
  BlockSums sums(recording.budget);
  if (!groups.prepare(recording)) return no_memory(by_stack);
  for (BlockSum sum : by_stack.rows()) {
    sum.key = groups(StackId{sum.key});
    if (sum.key < 0 || !sums.add(sum)) return no_memory(by_stack);
  }
  sums.order();
  return named(sums, By::shown, limit, recording.budget,
               [&](TopGroup& group) { group.stack = groups.stack_of(group.key); });
}

}  // namespace

Result<Top> top_of(const model::Recording& recording, const BlockSums& by_stack, By by, size_t limit,
                   const Keys* keys) {
  if (by == By::shown) return top_of_shown(recording, by_stack, limit);
  std::optional<Keys> own;
  if (by != By::stack && keys == nullptr) {
    auto found = find_keys(recording, by);
    if (!found) return tl::unexpected(found.error());
    keys = &own.emplace(std::move(*found));
  }
  BlockSums sums(recording.budget);
  if (!regroup(
          by_stack,
          [&](const BlockSum& sum) { return by == By::stack ? sum.key : keys->of(StackId{sum.key}); }, sums))
    return no_memory(by_stack);
  sums.order();
  return named(sums, by, limit, recording.budget, [&](TopGroup& group) {
    if (by == By::stack) {
      group.stack = StackId{group.key};
    } else {
      group.who = keys->who_of(recording, group.key);
    }
  });
}

Result<Top> find_top(const model::Recording& recording, const model::Part& part,
                     const replay::BlockLives& lives, const When& when, By by, size_t limit,
                     std::span<const uint8_t> matched, const Keys* keys) {
  const auto ranks = ranks_in(lives, when, matched, recording.budget);
  if (!ranks) return tl::unexpected(ranks.error());
  const auto by_stack = sums_by_stack(recording, part, lives, ranks->span());
  if (!by_stack) return tl::unexpected(by_stack.error());
  auto top = top_of(recording, *by_stack, by, limit, keys);
  if (!top) return top;
  top->device = lives.device;
  top->event = when.born_until;
  return top;
}

}  // namespace gpustrata::analysis
