#include "engine/simulate/start_numbers.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "engine/simulate/segment_actions.h"

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

void StartNumbers::begin_request(int32_t event) {
  at_ = std::max(at_, event_ + 1);
  event_ = event;
  expected_ = event >= 0 && events_.action[event] == trace::Action::alloc ? events_.address[event] : 0;
  is_found_ = false;
}

// What the recording gives back for the request: before its event, or from there on as long as nothing else happens.
void StartNumbers::find_given_back() {
  if (std::exchange(is_found_, true)) return;
  given_back_.clear();
  for (int32_t row = at_; row < rows_.end() && !is_full_; ++row) {
    const trace::Action action = events_.action[row];
    if (gives_memory_back(action)) {
      is_full_ = !given_back_.push_back({events_.address[row], row});
    } else if (row >= event_ && action != trace::Action::free_completed) {
      break;
    }
  }
  std::sort(given_back_.data(), given_back_.data() + given_back_.size());
}

// Of pages, only whole ones go: they begin within the block. -1 = it is not given back.
int32_t StartNumbers::row_of(const Block& block) const {
  const GivenBack* const found =
      std::lower_bound(given_back_.begin(), given_back_.end(), GivenBack{block.address, INT32_MIN});
  return found != given_back_.end() && found->address < block.end() ? found->row : -1;
}

void StartNumbers::give_back(std::span<const BlockId> blocks) {
  const alloc::MemoryState& state = allocator_.state();
  const auto is_like = [&](const Block& a, const Block& b) {
    return a.size == b.size && state.segment(a.segment).stream == state.segment(b.segment).stream &&
           is_unknown(a) && is_unknown(b);
  };
  std::vector<std::pair<int32_t, uint32_t>> equals;  // row, number
  for (size_t from = 0, end = 0; from < blocks.size(); from = end) {
    const Block& first = state.block(blocks[from]);
    for (end = from + 1; end < blocks.size() && is_like(first, state.block(blocks[end]));) ++end;
    if (end - from < 2) continue;
    find_given_back();
    equals.clear();
    for (const BlockId id : blocks.subspan(from, std::min(end - from, kMostEquals))) {
      const Block& block = state.block(id);
      if (const int32_t row = row_of(block); row >= 0) equals.emplace_back(row, block.number);
    }
    std::sort(equals.begin(), equals.end());
    for (size_t i = 1; i < equals.size(); ++i) {
      if (equals[i - 1].second != equals[i].second) note(equals[i - 1].second - 1, equals[i].second - 1);
    }
  }
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
