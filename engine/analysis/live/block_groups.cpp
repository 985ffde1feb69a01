#include "engine/analysis/live/block_groups.h"

#include <algorithm>
#include <tuple>

#include "engine/analysis/live/weigh.h"
#include "engine/base/memory_refused.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

template <size_t Count>
[[nodiscard]] uint32_t class_of(const std::array<int64_t, Count>& ends, int64_t value) {
  uint32_t index = 0;
  while (index + 1 < Count && value >= ends[index]) ++index;
  return index;
}

// Of what a filter chose, the rest is never there (replay/chosen_bands.h).
[[nodiscard]] bool is_left_out(const replay::Bands& bands, size_t rank) {
  return bands.born[rank] >= bands.freed[rank];
}

void count_blocks(const replay::Bands& bands, BlockGroups& groups) {
  for (size_t r = 0; r < groups.group.size(); ++r) {
    if (!is_left_out(bands, r)) ++groups.kinds[groups.group[r]].blocks;
  }
}

void add_classes(BlockGroups& groups, size_t count) {
  for (size_t i = 0; i < count; ++i) groups.kinds.push_back({static_cast<int32_t>(i)});
}

// Microseconds.
[[nodiscard]] int64_t time_of(const model::Recording& recording, const replay::Bands& bands, int32_t event) {
  if (event < 0 || event >= bands.events.count) return model::kNoTime;
  const int64_t time = recording.events.time[bands.events.first + event];
  return bands.clock.microseconds(time).value_or(model::kNoTime);
}

// What torch.profiler says a tensor is for, in the alloc event or else the free: a StringId of its JSON text;
// -1 = nothing, or the profiler's own "unknown".
[[nodiscard]] int32_t category_of(const model::Recording& recording, const replay::Bands& bands,
                                  size_t rank) {
  const int32_t born = bands.born[rank];
  const int32_t event = born >= 0 ? born : bands.freed[rank];
  if (event >= bands.events.count) return -1;
  const model::RowRange extras = recording.extras_of(model::Owner::event, bands.events.first + event);
  for (int32_t row = extras.first; row < extras.end(); ++row) {
    if (recording.strings.view(recording.extras.key[row]) != "category") continue;
    const StringId value = recording.extras.value[row];
    return recording.strings.view(value) == "\"unknown\"" ? -1 : value.value;
  }
  return -1;
}

// Of each rank `group` has its key + 1; the largest kinds get a place of their own, the others the last one.
[[nodiscard]] bool largest_kinds(const replay::Bands& bands, BlockGroups& groups, Budget& budget,
                                 int32_t peak_event) {
  BlockSums sums(budget);  // lit: in use at the peak
  for (int32_t rank = 0; rank < bands.count(); ++rank) {
    const auto r = static_cast<size_t>(rank);
    if (is_left_out(bands, r)) continue;
    if (!sums.add(static_cast<int32_t>(groups.group[r]) - 1, rank, bands.size[r],
                  bands.is_live_after(rank, peak_event)))
      return false;
  }
  Column<BlockSum> ordered(budget);
  if (!ordered.append(sums.rows().span())) return false;
  const size_t own = ordered.size() > kMostKinds ? kMostKinds - 1 : ordered.size();
  const auto place = [](const BlockSum& sum) {
    const int64_t ever = saturated_sum(sum.bytes, sum.blocks);
    return std::tuple(-sum.lit_bytes, sum.lit_bytes > 0 ? ever : -ever, sum.key);
  };
  std::partial_sort(ordered.data(), ordered.data() + own, ordered.data() + ordered.size(),
                    [&](const BlockSum& a, const BlockSum& b) { return place(a) < place(b); });
  int32_t highest = -1;
  for (const BlockSum& sum : ordered) highest = std::max(highest, sum.key);
  Column<uint32_t> group_of(budget);  // by key + 1
  if (!group_of.resize(static_cast<size_t>(highest) + 2, static_cast<uint32_t>(own))) return false;
  for (size_t i = 0; i < own; ++i) {
    group_of[ordered[i].key + 1] = static_cast<uint32_t>(i);
    groups.kinds.push_back({ordered[i].key});
  }
  if (own < ordered.size()) {
    const auto rest = static_cast<int32_t>(ordered.size() - own);
    groups.kinds.push_back({-1, 0, rest});
  }
  for (size_t r = 0; r < groups.group.size(); ++r)
    groups.group[r] = is_left_out(bands, r) ? 0 : group_of[groups.group[r]];
  return true;
}

void group_lifetimes(const model::Recording& recording, const replay::Bands& bands, BlockGroups& groups) {
  bool has_times = false;
  for (int32_t event = 0; event < bands.events.count && !has_times; ++event)
    has_times = time_of(recording, bands, event) != model::kNoTime;
  groups.in_time = has_times;
  add_classes(groups, kFromBefore + 1);
  for (size_t r = 0; r < groups.group.size(); ++r) {
    const int32_t born = bands.born[r];
    const int32_t freed = bands.freed[r];
    uint32_t& group = groups.group[r];
    if (freed >= bands.events.count) {
      group = kNeverFreed;
    } else if (born < 0) {
      group = kFromBefore;
    } else if (!has_times) {
      group = class_of(kEventCountEnds, freed - born);
    } else {
      const int64_t from = time_of(recording, bands, born);
      const int64_t to = time_of(recording, bands, freed);
      int64_t lived = 0;
      if (from != model::kNoTime && to != model::kNoTime && __builtin_sub_overflow(to, from, &lived))
        lived = 0;
      group = class_of(kTimeEnds, lived);
    }
  }
}

void group_ages(const replay::Bands& bands, BlockGroups& groups) {
  const int64_t count = bands.events.count;
  add_classes(groups, count > 0 ? kAges + 1 : 1);
  for (size_t r = 0; r < groups.group.size(); ++r) {
    const int64_t born = bands.born[r];
    groups.group[r] = born < 0 || count == 0 ? 0 : static_cast<uint32_t>(1 + born * kAges / count);
  }
}

}  // namespace

Result<BlockGroups> group_blocks(const model::Recording& recording, const replay::Bands& bands,
                                 const BlockAttributes& attributes, GroupBy by,
                                 std::optional<int32_t> peak_event, const Keys* lines) {
  const int32_t peak = peak_event.value_or(bands.peak_event);
  BlockGroups groups(recording.budget);
  groups.by = by;
  groups.events = bands.events.count;
  if (by == GroupBy::allocation) return groups;
  const auto too_much = [&] {
    return not_enough_memory(recording.budget, fmt::format("to group {} blocks", bands.count()));
  };
  if (!groups.group.resize(static_cast<size_t>(bands.count()), 0)) return too_much();
  const auto set_keys = [&](const auto& key_of) {
    for (size_t r = 0; r < groups.group.size(); ++r) groups.group[r] = static_cast<uint32_t>(key_of(r) + 1);
    return largest_kinds(bands, groups, recording.budget, peak);
  };
  bool done = true;
  switch (by) {
    case GroupBy::allocation:
      break;
    case GroupBy::stack:  // what one line asked for is one kind
      done = set_keys([&](size_t r) { return lines->of(attributes.stack[r]); });
      for (BlockGroups::Kind& kind : groups.kinds) {
        if (kind.key >= 0) kind.key = lines->frame[kind.key].value;
      }
      break;
    case GroupBy::stream:
      done = set_keys([&](size_t r) { return attributes.number_of(attributes.stream[r]); });
      break;
    case GroupBy::pool:
      done = set_keys([&](size_t r) { return int32_t{attributes.pool[r].value}; });
      break;
    case GroupBy::category:
      done = set_keys([&](size_t r) { return category_of(recording, bands, r); });
      break;
    case GroupBy::size:
      groups.ordered = true;
      add_classes(groups, kSizeEnds.size());
      for (size_t r = 0; r < groups.group.size(); ++r) groups.group[r] = class_of(kSizeEnds, bands.size[r]);
      break;
    case GroupBy::lifetime:
      groups.ordered = true;
      group_lifetimes(recording, bands, groups);
      break;
    case GroupBy::age:
      groups.ordered = true;
      group_ages(bands, groups);
      break;
  }
  if (!done) return too_much();
  count_blocks(bands, groups);
  return groups;
}

Result<BlockGroups> group_by_rules(const model::Recording& recording, const replay::Bands& bands,
                                   const Categories& categories, const CategoryRules& rules,
                                   std::optional<int32_t> peak_event) {
  BlockGroups groups(recording.budget);
  groups.by = GroupBy::category;
  groups.events = bands.events.count;
  groups.inferred = rules.names;
  for (size_t i = 0; i < rules.names.size(); ++i) groups.says.push_back(rules.says(static_cast<int32_t>(i)));
  groups.by_lifetime = rules.by_lifetime;
  bool done = groups.group.resize(static_cast<size_t>(bands.count()), 0);
  for (size_t r = 0; r < groups.group.size(); ++r) {
    const uint8_t rule = categories.rule[r];
    groups.group[r] = rule == Categories::kNoRule ? 1 : static_cast<uint32_t>(rules.rules[rule].category + 1);
  }
  done = done && largest_kinds(bands, groups, recording.budget, peak_event.value_or(bands.peak_event));
  if (!done)
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to group {} blocks", bands.count());
  count_blocks(bands, groups);
  return groups;
}

std::vector<Share> shares_of(const replay::Bands& bands, const BlockGroups& groups,
                             std::span<const int32_t> ranks) {
  std::vector<Share> shares(groups.kinds.size());
  if (shares.empty()) return shares;
  for (const int32_t rank : ranks) {
    Share& share = shares[groups.group[rank]];
    add_saturated(share.bytes, bands.size[rank]);
    ++share.blocks;
  }
  return shares;
}

}  // namespace gpustrata::analysis
