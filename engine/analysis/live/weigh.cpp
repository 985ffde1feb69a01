#include "engine/analysis/live/weigh.h"

#include <algorithm>
#include <tuple>

#include "engine/analysis/device/holder_stack.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] tl::unexpected<Error> no_memory(size_t blocks) {
  return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to group {} blocks.", blocks);
}

}  // namespace

Result<Column<int32_t>> ranks_in(const replay::Bands& bands, const When& when,
                                 std::span<const uint8_t> matched, Budget& budget) {
  Column<int32_t> ranks(budget);
  for (int32_t rank = 0; rank < bands.count(); ++rank) {
    if (!when.has(bands.born[rank], bands.freed[rank])) continue;
    if (!matched.empty() && matched[static_cast<size_t>(rank)] == 0) continue;
    if (!ranks.push_back(rank)) return no_memory(bands.size.size());
  }
  return ranks;
}

bool BlockSums::add(const BlockSum& part) {
  const auto slot = static_cast<size_t>(part.key + 1);
  if (slot >= place_.size() && !place_.resize(std::max(slot + 1, place_.size() * 2), -1)) return false;
  int32_t& place = place_[slot];
  if (place < 0) {
    place = static_cast<int32_t>(rows_.size());
    if (!rows_.push_back({.key = part.key, .first = part.first})) return false;
  }
  BlockSum& sum = rows_[place];
  sum.first = std::min(sum.first, part.first);
  if (sum.largest < 0 || part.largest_bytes > sum.largest_bytes ||
      (part.largest_bytes == sum.largest_bytes && part.largest < sum.largest)) {
    sum.largest = part.largest;
    sum.largest_bytes = part.largest_bytes;
  }
  add_saturated(sum.bytes, part.bytes);
  add_saturated(sum.lit_bytes, part.lit_bytes);
  sum.blocks += part.blocks;
  add_saturated(bytes_, part.bytes);
  blocks_ += part.blocks;
  return true;
}

void BlockSums::order() {
  std::sort(rows_.data(), rows_.data() + rows_.size(), [](const BlockSum& a, const BlockSum& b) {
    return std::tie(b.bytes, b.blocks, a.first) < std::tie(a.bytes, a.blocks, b.first);
  });
  for (size_t i = 0; i < rows_.size(); ++i) place_[rows_[i].key + 1] = static_cast<int32_t>(i);
}

Result<BlockSums> sums_by_stack(const replay::Bands& bands, std::span<const int32_t> ranks,
                                std::span<const StackId> stacks, std::span<const uint8_t> lit,
                                Budget& budget) {
  BlockSums sums(budget);
  for (const int32_t rank : ranks) {
    if (!sums.add(stacks[static_cast<size_t>(rank)].value, rank, bands.size[rank],
                  !lit.empty() && lit[static_cast<size_t>(rank)] != 0))
      return no_memory(ranks.size());
  }
  return sums;
}

Result<BlockSums> sums_by_stack(const model::Recording& recording, const model::Part& part,
                                const replay::BlockLives& lives, std::span<const int32_t> ranks) {
  BlockSums sums(recording.budget);
  Column<AddressAndRow> final_blocks(recording.budget);
  if (!collect_final_blocks(recording, part, lives.device, final_blocks)) return no_memory(ranks.size());
  const FreeStacks free_stacks = whose_free_stacks(recording, lives);
  for (const int32_t rank : ranks) {
    const BlockSource source = source_of(recording, lives, final_blocks, rank);
    const StackId stack = source.shown_stack().is_none() ? StackId{} : holder_stack(source, free_stacks);
    if (!sums.add(stack.value, rank, lives.size[rank])) return no_memory(ranks.size());
  }
  return sums;
}

}  // namespace gpustrata::analysis
