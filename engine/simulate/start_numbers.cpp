#include "engine/simulate/start_numbers.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace gpustrata::simulate {

using alloc::Block;
using alloc::BlockId;

namespace {

constexpr size_t kMostEquals = 1024;  // looked at in one search

}  // namespace

// What counts beside the size of an expandable block (DeviceAllocator::find_with_pages).
int64_t StartNumbers::growth_of(const Block& block) const {
  if (!block.expandable || block.next.is_none()) return 0;
  const Block& next = allocator_.state().block(block.next);
  return next.mapped ? 0 : next.size;
}

BlockId StartNumbers::prefer(const alloc::BlockSet& set, BlockId first, BlockId chosen) {
  const alloc::MemoryState& state = allocator_.state();
  const Block& best = state.block(chosen);
  if (expected_ == 0 || !is_unknown(best)) return chosen;
  BlockId from = state.block(first).size == best.size ? first : chosen;
  BlockId wanted;
  size_t looked_at = 0;
  for (BlockId id = from; !id.is_none() && looked_at < kMostEquals; id = set.after(id), ++looked_at) {
    const Block& block = state.block(id);
    if (block.size != best.size || !is_unknown(block)) break;
    if (block.address == expected_) wanted = id;
  }
  if (wanted.is_none()) return chosen;
  const Block& taken = state.block(wanted);
  for (BlockId id = from; looked_at > 0; id = set.after(id), --looked_at) {
    const Block& block = state.block(id);
    if (block.number != taken.number && growth_of(block) == growth_of(taken))
      note(taken.number - 1, block.number - 1);
  }
  return wanted;
}

void StartNumbers::note(uint32_t first, uint32_t second) {
  if (is_full_) return;
  if (before_.size() >= tidy_at_) {
    tidy();
    if (before_.size() > tidy_at_ / 2) tidy_at_ *= 2;
  }
  is_full_ = !before_.push_back({first, second});
}

void StartNumbers::tidy() {
  std::sort(before_.data(), before_.data() + before_.size());
  const Pair* const end = std::unique(before_.data(), before_.data() + before_.size());
  while (before_.data() + before_.size() != end) before_.pop_back();
}

std::vector<uint32_t> StartNumbers::numbers() {
  tidy();
  const uint32_t count = allocator_.adopted_count();
  std::vector<uint32_t> waits_for(count, 0), number(count, count);
  for (const Pair& pair : before_) ++waits_for[pair.second];
  using Lowest = std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>>;
  Lowest ready;
  for (uint32_t place = 0; place < count; ++place) {
    if (waits_for[place] == 0) ready.push(place);
  }
  uint32_t next = 0;
  while (!ready.empty()) {
    const uint32_t place = ready.top();
    ready.pop();
    number[place] = next++;
    const Pair* pair = std::lower_bound(before_.begin(), before_.end(), Pair{place, 0});
    for (; pair != before_.end() && pair->first == place; ++pair) {
      if (--waits_for[pair->second] == 0) ready.push(pair->second);
    }
  }
  for (uint32_t& last : number) {
    if (last == count) last = next++;
  }
  return number;
}

}  // namespace gpustrata::simulate
