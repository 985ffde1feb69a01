// Taking over memory that was there before the first call.
#include <algorithm>

#include "engine/alloc/device_allocator.h"

namespace gpustrata::alloc {

namespace {

// Do the ranges ascend within [start, end), without meeting?
template <typename Range>
[[nodiscard]] bool are_within(std::span<const Range> ranges, uint64_t start, uint64_t end) {
  uint64_t from = start;
  for (const Range& range : ranges) {
    if (range.size <= 0 || range.address < from || range.address >= end ||
        static_cast<uint64_t>(range.size) > end - range.address)
      return false;
    from = range.address + static_cast<uint64_t>(range.size);
  }
  return true;
}

[[nodiscard]] tl::unexpected<Error> does_not_hold(uint64_t address, const char* what) {
  return fail(ErrorCode::wrong_usage, -1, "the segment at {:#x} cannot be taken over: {}", address, what);
}

}  // namespace

uint32_t DeviceAllocator::adopted_number() {
  if (config_.free_order == FreeOrder::address) return 0;
  const uint32_t place = adopted_count_++;
  last_number_ = std::max(last_number_, adopted_count_);
  return (place < adopted_numbers_.size() ? adopted_numbers_[place] : place) + 1;
}

Status DeviceAllocator::adopt(const SegmentInfo& given, int64_t page_size,
                              std::span<const AdoptedRange> mapped, std::span<const AdoptedBlock> blocks) {
  SegmentInfo info = given;
  if (config_.free_order == FreeOrder::segment_age) info.number = adopted_number();
  const AdoptedRange whole{info.address, info.size};
  if (!info.expandable) mapped = {&whole, 1};
  if (info.size <= 0 || info.size > kLargestRequest ||
      static_cast<uint64_t>(info.size) > UINT64_MAX - info.address)
    return does_not_hold(info.address, "its size is out of range");
  const uint64_t end = info.address + static_cast<uint64_t>(info.size);
  if (!are_within(mapped, info.address, end) || !are_within(blocks, info.address, end))
    return does_not_hold(info.address, "what lies in it does not ascend, or ends outside");
  const int64_t page = info.expandable ? page_size : 1;
  if (page <= 0) return does_not_hold(info.address, "its pages have no size");
  int64_t bytes = 0;
  for (const AdoptedRange& range : mapped) {
    if (static_cast<int64_t>(range.address - info.address) % page != 0 || range.size % page != 0)
      return does_not_hold(info.address, "its memory is not whole pages");
    bytes += range.size;
  }
  if (info.size % page != 0) return does_not_hold(info.address, "it is not whole pages");
  if (bytes > kLargestRequest - device_bytes_) return does_not_hold(info.address, "there is too much in all");

  BlockPool* pool = find_pool(info.pool);
  if (pool == nullptr) pool = &add_pool(info.pool);
  const SegmentId segment = add_segment(info, {pool, info.expandable ? page : 0});
  const auto no_memory = [&] {
    (void)no_room();
    return tl::unexpected(failure_);
  };
  if (segment.is_none()) return no_memory();
  if (info.expandable) {
    for (const AdoptedRange& range : mapped) {
      const BlockId behind = state_.segment(segment).last;  // unmapped: the ranges ascend
      const bool touches = !state_.block(behind).mapped;
      if (!touches || state_.segment_map(behind, range.address, range.size).block.is_none())
        return no_memory();
    }
  }
  // Every block is handed out behind what fills the room before it, which is given back at once.
  BlockId at = state_.segment(segment).first;
  for (const AdoptedBlock& block : blocks) {
    while (!at.is_none() && (state_.block(at).is_active() || state_.block(at).end() <= block.address))
      at = state_.block(at).next;
    const bool fits = !at.is_none() && state_.block(at).mapped && state_.block(at).address <= block.address &&
                      block.address + static_cast<uint64_t>(block.size) <= state_.block(at).end();
    if (!fits) return does_not_hold(info.address, "a block does not lie in its memory");
    const auto room = static_cast<int64_t>(block.address - state_.block(at).address);
    BlockId filling;
    if (room > 0) {
      const Carved carved = state_.alloc(at, room, {});
      if (carved.block.is_none()) return no_memory();
      filling = carved.block;
      at = carved.after;
    }
    const Carved carved = state_.alloc(at, block.size, {block.requested_size, block.stack, {}});
    if (!filling.is_none()) {
      state_.free_requested(filling);
      (void)state_.free_completed(filling);
    }
    if (carved.block.is_none()) return no_memory();
    if (block.size >= config_.max_split_size) state_.stats().oversize_allocations.change(1);
    at = carved.block;
  }
  for (BlockId i = state_.segment(segment).first; !i.is_none(); i = state_.block(i).next) {
    if (numbers_blocks()) state_.set_number(i, adopted_number());
    if (state_.block(i).is_active()) continue;
    if (state_.block(i).mapped) {
      put(i);
    } else {
      set_of(i).insert_unmapped(i);
    }
  }
  device_bytes_ += bytes;
  if (!info.expandable && info.size >= config_.max_split_size) state_.stats().oversize_segments.change(1);
  reset_peak_stats();
  reset_accumulated_stats();
  return {};
}

}  // namespace gpustrata::alloc
