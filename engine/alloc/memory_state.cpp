#include "engine/alloc/memory_state.h"

#include <algorithm>
#include <cassert>

namespace gpustrata::alloc {

MemoryState::MemoryState(Budget& budget)
    : blocks_(budget), segments_(budget), by_address_(budget), live_(budget) {}

// --- Rows --------------------------------------------------------------------------------------------------

bool MemoryState::make_room() {
  while (vanished_blocks_ < kMostNewBlocks) {
    if (!blocks_.push_back({})) return false;
    drop_block(BlockId(blocks_.size() - 1));
  }
  return true;
}

BlockId MemoryState::new_block(const Block& row) {
  const BlockId id = vanished_block_;
  assert(!id.is_none());
  vanished_block_ = blocks_[id.index()].next;
  --vanished_blocks_;
  blocks_[id.index()] = row;
  return id;
}

void MemoryState::drop_block(BlockId id) {
  blocks_[id.index()].segment = SegmentId();
  blocks_[id.index()].next = vanished_block_;
  vanished_block_ = id;
  ++vanished_blocks_;
}

// --- Shapes ------------------------------------------------------------------------------------------------

Carved MemoryState::carve(BlockId id, uint64_t address, int64_t size) {
  Block& block = blocks_[id.index()];
  assert(address >= block.address && address + static_cast<uint64_t>(size) <= block.end());
  Carved carved{id, {}, {}};
  Segment& segment = segments_[block.segment.index()];
  const auto below = static_cast<int64_t>(address - block.address);
  const int64_t above = block.size - below - size;
  if (below > 0) {
    carved.before = new_block(block);
    Block& before = blocks_[carved.before.index()];
    before.size = below;
    before.next = id;
    (block.previous.is_none() ? segment.first : blocks_[block.previous.index()].next) = carved.before;
    block.previous = carved.before;
    block.address = address;
  }
  block.size = size;
  if (above > 0) {
    carved.after = new_block(block);
    Block& after = blocks_[carved.after.index()];
    after.address = block.end();
    after.size = above;
    after.previous = id;
    (block.next.is_none() ? segment.last : blocks_[block.next.index()].previous) = carved.after;
    block.next = carved.after;
  }
  return carved;
}

bool MemoryState::can_merge(BlockId id, BlockId neighbour) const {
  return !neighbour.is_none() && !block(neighbour).is_active() && block(neighbour).mapped == block(id).mapped;
}

Merged MemoryState::merge(BlockId id) {
  Merged merged{id, {}};
  Block& block = blocks_[id.index()];
  Segment& segment = segments_[block.segment.index()];
  if (const BlockId previous = block.previous; can_merge(id, previous)) {
    const Block& other = blocks_[previous.index()];
    block.address = other.address;
    block.size += other.size;
    block.previous = other.previous;
    (block.previous.is_none() ? segment.first : blocks_[block.previous.index()].next) = id;
    drop_block(previous);
    merged.absorbed[0] = previous;
  }
  if (const BlockId next = block.next; can_merge(id, next)) {
    const Block& other = blocks_[next.index()];
    block.size += other.size;
    block.next = other.next;
    (block.next.is_none() ? segment.last : blocks_[block.next.index()].previous) = id;
    drop_block(next);
    merged.absorbed[1] = next;
  }
  return merged;
}

// --- Statistics --------------------------------------------------------------------------------------------

void MemoryState::change_split(const Block& block, int64_t blocks, int64_t bytes) {
  // PyTorch leaves blocks of expandable segments out: their remainders can be unmapped.
  if (block.expandable) return;
  stats_.inactive_split.change(block.small, blocks);
  stats_.inactive_split_bytes.change(block.small, bytes);
}

// --- Segments ----------------------------------------------------------------------------------------------

size_t MemoryState::position_after(uint64_t address) const {
  const auto* found =
      std::upper_bound(by_address_.begin(), by_address_.end(), address,
                       [this](uint64_t wanted, SegmentId id) { return wanted < segment(id).address; });
  return static_cast<size_t>(found - by_address_.begin());
}

SegmentId MemoryState::segment_containing(uint64_t address) const {
  const size_t position = position_after(address);
  if (position == 0) return {};
  const SegmentId id = by_address_[position - 1];
  return address < segment(id).end() ? id : SegmentId();
}

BlockId MemoryState::block_containing(uint64_t address) const {
  const SegmentId within = segment_containing(address);
  if (within.is_none()) return {};
  BlockId id = segment(within).first;
  while (block(id).end() <= address) id = block(id).next;
  return id;
}

SegmentId MemoryState::segment_alloc(const SegmentInfo& info) {
  if (!make_room()) return {};
  if (vanished_segment_.is_none()) {
    if (!segments_.push_back({})) return {};
    vanished_segment_ = SegmentId(segments_.size() - 1);
  }
  if (!by_address_.push_back({})) return {};
  const SegmentId id = vanished_segment_;
  Segment& segment = segments_[id.index()];
  vanished_segment_ = SegmentId(segment.first.value);

  static_cast<SegmentInfo&>(segment) = info;
  segment.mapped_bytes = info.expandable ? 0 : info.size;
  Block row;
  row.address = info.address;
  row.size = info.size;
  row.segment = id;
  row.number = info.number;
  row.mapped = !info.expandable;
  row.small = info.small;
  row.expandable = info.expandable;
  segment.first = segment.last = new_block(row);

  by_address_.pop_back();
  const size_t position = position_after(info.address);
  (void)by_address_.push_back({});  // there is room: it was there a moment ago
  std::copy_backward(by_address_.data() + position, by_address_.data() + by_address_.size() - 1,
                     by_address_.data() + by_address_.size());
  by_address_[position] = id;

  if (!info.expandable) {
    stats_.segment.increase(info.small, 1);
    count_reserved(info, info.size);
  }
  return id;
}

void MemoryState::count_reserved(const SegmentInfo& segment, int64_t change) {
  stats_.reserved_bytes.change(segment.small, change);
  if (segment.pool != trace::PoolKey{})
    stats_.reserved_bytes_by_private_pools[segment.pool].change(segment.small, change);
}

void MemoryState::segment_free(SegmentId id) {
  Segment& segment = segments_[id.index()];
  assert(segment.first == segment.last && !block(segment.first).is_active());
  assert(segment.mapped_bytes == (segment.expandable ? 0 : segment.size));
  if (!segment.expandable) {
    stats_.segment.decrease(segment.small, 1);
    count_reserved(segment, -segment.size);
  }
  const size_t position = position_after(segment.address) - 1;
  std::copy(by_address_.data() + position + 1, by_address_.data() + by_address_.size(),
            by_address_.data() + position);
  by_address_.pop_back();
  drop_block(segment.first);
  segment.first = BlockId(vanished_segment_.value);
  vanished_segment_ = id;
}

Merged MemoryState::segment_map(BlockId unmapped, uint64_t address, int64_t size) {
  if (!make_room()) return {};
  assert(!block(unmapped).mapped);
  (void)carve(unmapped, address, size);
  Block& block = blocks_[unmapped.index()];
  block.mapped = true;
  block.requested_size = 0;
  Segment& segment = segments_[block.segment.index()];
  segment.mapped_bytes += size;
  count_reserved(segment, size);
  return merge(unmapped);
}

MemoryState::Unmapped MemoryState::segment_unmap(BlockId inactive, uint64_t address, int64_t size) {
  if (!make_room()) return {};
  assert(block(inactive).mapped && !block(inactive).is_active());
  Unmapped result;
  const Carved carved = carve(inactive, address, size);
  result.before = carved.before;
  result.after = carved.after;
  for (const BlockId rest : {carved.before, carved.after}) {
    if (!rest.is_none()) blocks_[rest.index()].requested_size = 0;
  }
  Block& block = blocks_[inactive.index()];
  block.mapped = false;
  Segment& segment = segments_[block.segment.index()];
  assert(segment.expandable);
  segment.mapped_bytes -= size;
  count_reserved(segment, -size);
  static_cast<Merged&>(result) = merge(inactive);
  return result;
}

// --- Blocks ------------------------------------------------------------------------------------------------

Carved MemoryState::alloc(BlockId inactive, int64_t size, const Use& use) {
  if (!make_room() || !live_.make_room(blocks_)) return {};
  assert(!block(inactive).is_active() && block(inactive).mapped);
  const int64_t old_size = block(inactive).size;
  const bool was_split = block(inactive).is_split();
  const Carved carved = carve(inactive, block(inactive).address, size);
  Block& block = blocks_[carved.block.index()];
  block.requested_size = use.requested_size;
  block.stack = use.stack;
  block.metadata = use.metadata;
  block.state = BlockState::active_allocated;
  live_.insert(block.address, carved.block, blocks_);
  // What is left over is inactive and split; the whole was inactive, and split if it had a neighbour.
  const int parts = carved.after.is_none() ? 0 : 1;
  change_split(block, parts - (was_split ? 1 : 0), old_size - size - (was_split ? old_size : 0));
  stats_.allocation.increase(block.small, 1);
  stats_.allocated_bytes.increase(block.small, block.size);
  stats_.active.increase(block.small, 1);
  stats_.active_bytes.increase(block.small, block.size);
  stats_.requested_bytes.increase(block.small, use.requested_size);
  return carved;
}

void MemoryState::free_requested(BlockId allocated) {
  Block& block = blocks_[allocated.index()];
  assert(block.state == BlockState::active_allocated);
  block.state = BlockState::active_pending_free;
  stats_.allocation.decrease(block.small, 1);
  stats_.allocated_bytes.decrease(block.small, block.size);
}

Merged MemoryState::free_completed(BlockId pending) {
  Block& block = blocks_[pending.index()];
  assert(block.state == BlockState::active_pending_free);
  live_.erase(block.address, pending);
  stats_.active.decrease(block.small, 1);
  stats_.active_bytes.decrease(block.small, block.size);
  stats_.requested_bytes.decrease(block.small, block.requested_size);
  block.state = BlockState::inactive;
  block.stack = StackId();
  block.metadata = StringId();
  const int64_t own_size = block.size;
  const Merged merged = merge(pending);
  // What was taken in was split; the whole is if it has a neighbour.
  const int taken_in = (merged.absorbed[0].is_none() ? 0 : 1) + (merged.absorbed[1].is_none() ? 0 : 1);
  change_split(block, (block.is_split() ? 1 : 0) - taken_in, own_size - (block.is_split() ? 0 : block.size));
  return merged;
}

}  // namespace gpustrata::alloc
