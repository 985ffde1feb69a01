#include "engine/analysis/peak_parts.h"

#include <algorithm>
#include <tuple>

#include "engine/analysis/shown_stacks.h"
#include "engine/analysis/top.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

Result<PeakParts> find_peak_parts(const model::Recording& recording, const model::Part& part,
                                  const replay::BlockLives& lifetimes, size_t limit) {
  const auto no_memory = [] {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to group the blocks of the peak.");
  };
  const auto top =
      find_top(recording, part, lifetimes, lifetimes.peak_event, TopBy::stack, static_cast<size_t>(-1));
  if (!top) return tl::unexpected(top.error());
  PeakParts found(recording.budget);
  found.event = lifetimes.peak_event;
  found.bytes = top->bytes;
  found.blocks = top->count;
  StackGroups groups(recording);
  Column<int32_t> part_of_group(recording.budget);
  Column<PeakPart> parts(recording.budget);
  if (!groups.prepare(recording)) return no_memory();
  for (const TopGroup& one : top->groups) {  // largest first
    const int32_t group = groups(one.stack);
    if (group < 0 || !part_of_group.resize(static_cast<size_t>(groups.count()), -1)) return no_memory();
    int32_t& place = part_of_group[group];
    if (place < 0) {
      place = static_cast<int32_t>(parts.size());
      if (!parts.push_back({one.stack, 0, 0, one.largest_rank})) return no_memory();
    }
    add_saturated(parts[place].bytes, one.bytes);
    parts[place].blocks += one.count;
  }
  std::stable_sort(parts.data(), parts.data() + parts.size(), [](const PeakPart& a, const PeakPart& b) {
    return std::tuple(-a.bytes, -a.blocks) < std::tuple(-b.bytes, -b.blocks);
  });
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i < limit) {
      if (!found.parts.push_back(parts[i])) return no_memory();
      continue;
    }
    add_saturated(found.rest_bytes, parts[i].bytes);
    found.rest_blocks += parts[i].blocks;
    ++found.rest_parts;
  }
  return found;
}

}  // namespace gpustrata::analysis
