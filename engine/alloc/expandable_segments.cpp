// Memory in pages: reservations of address space of which any range can be mapped and unmapped.
#include <algorithm>
#include <utility>

#include "engine/alloc/device_allocator.h"

namespace gpustrata::alloc {

using trace::Action;

int64_t DeviceAllocator::reservation_size(bool small) const {
  const int64_t total = device_.info().total_bytes;
  const int64_t most = total + total / 8;
  int64_t bytes = most;
  if (config_.expandable_segments_reserve_bytes > 0) {
    bytes = std::min(most, config_.expandable_segments_reserve_bytes);
  } else if (config_.expandable_segments_reserve_share > 0) {
    const double share = config_.expandable_segments_reserve_share * static_cast<double>(total);
    bytes = share < static_cast<double>(most) ? static_cast<int64_t>(share) : most;
  }
  const int64_t page = config_.page_size(small);
  return std::max<int64_t>((bytes + page - 1) / page, 1) * page;
}

bool DeviceAllocator::expandable_request_too_large(const Request& request) const {
  return request.expandable && request.rounded > reservation_size(request.small) &&
         request.rounded <= device_.info().total_bytes;
}

// The idle block where a run of idle blocks begins that, mapped, would serve the request; or none.
BlockId DeviceAllocator::find_expandable_start(const Request& request) {
  const auto is_idle = [&](BlockId id) { return !id.is_none() && !state_.block(id).is_active(); };
  for (const BlockId unmapped : request.set().unmapped()) {
    if (state_.segment_of(unmapped).stream != request.stream) continue;
    const BlockId previous = state_.block(unmapped).previous;
    const BlockId start = is_idle(previous) ? previous : unmapped;
    int64_t bytes = 0;
    for (BlockId id = start; bytes < request.rounded && is_idle(id); id = state_.block(id).next)
      bytes += state_.block(id).size;
    if (bytes >= request.rounded) return start;
  }
  return {};
}

DeviceAllocator::Attempt DeviceAllocator::allocate_expandable(const Request& request, BlockId& block) {
  BlockId start = find_expandable_start(request);
  if (start.is_none()) {
    const int64_t bytes = reservation_size(request.small);
    if (bytes < request.rounded) return Attempt::out_of_memory;
    auto reserved = device_.reserve(bytes);
    if (!reserved) {
      if (reserved.error().out_of_memory) return Attempt::out_of_memory;
      failure_ = {ErrorCode::device_error, std::move(reserved.error().text), -1};
      return Attempt::failed;
    }
    SegmentInfo info;
    info.address = *reserved;
    info.size = bytes;
    info.stream = request.stream;
    info.pool = request.pool->key;
    info.small = request.small;
    info.expandable = true;
    info.stack = request.origin.stack;
    info.number = new_number();
    const SegmentId segment = add_segment(info, {request.pool, config_.page_size(request.small)});
    if (segment.is_none()) {
      device_.release(info.address, bytes);
      return no_room();
    }
    start = state_.segment(segment).first;
    request.set().insert_unmapped(start);
  }
  // A failing step leaves what earlier ones mapped, as cached memory (as in PyTorch).
  if (!state_.block(start).mapped) {
    const int64_t bytes = std::min(state_.block(start).size, request.rounded);
    if (const Attempt step = map_pages(start, bytes, request, start); step != Attempt::success) return step;
  }
  while (state_.block(start).size < request.rounded) {
    const Block& row = state_.block(start);
    const int64_t bytes = std::min(request.rounded - row.size, state_.block(row.next).size);
    if (const Attempt step = map_pages(row.next, bytes, request, start); step != Attempt::success)
      return step;
  }
  request.set().erase(start);
  block = start;
  return Attempt::success;
}

// Maps the first `size` bytes of an unmapped block, rounded up to pages; `mapped` is then the idle block they
// are part of.
DeviceAllocator::Attempt DeviceAllocator::map_pages(BlockId unmapped, int64_t size, const Request& request,
                                                    BlockId& mapped) {
  const Block row = state_.block(unmapped);
  const int64_t page = owners_[row.segment.index()].page_size;
  const int64_t bytes = (size + page - 1) / page * page;
  if (auto done = device_.map(row.address, bytes, page); !done) {
    if (done.error().out_of_memory) return Attempt::out_of_memory;
    failure_ = {ErrorCode::device_error, std::move(done.error().text), -1};
    return Attempt::failed;
  }
  BlockSet& set = request.set();
  // Idle neighbours are mapped: unmapped ones would be part of this block.
  const auto is_idle = [&](BlockId id) { return !id.is_none() && !state_.block(id).is_active(); };
  const BlockId before = is_idle(row.previous) ? row.previous : BlockId();
  const BlockId after = bytes == row.size && is_idle(row.next) ? row.next : BlockId();
  for (const BlockId neighbour : {before, after}) {
    if (!neighbour.is_none()) set.erase(neighbour);
  }
  const Merged merged = state_.segment_map(unmapped, row.address, bytes);
  if (merged.block.is_none()) {
    for (const BlockId neighbour : {before, after}) {
      if (!neighbour.is_none()) set.insert(neighbour);
    }
    device_.unmap(row.address, bytes, page);
    return no_room();
  }
  set.erase_unmapped(unmapped);
  if (bytes < row.size) {
    number_block(state_.block(merged.block).next);
    set.insert_unmapped(state_.block(merged.block).next);
  }
  set.insert(merged.block);
  device_bytes_ += bytes;
  ++state_.stats().num_device_alloc;
  tell(Action::segment_map, row.address, bytes, state_.segment(row.segment), request.origin.stack,
       request.origin.metadata);
  mapped = merged.block;
  return Attempt::success;
}

// Gives the whole pages inside an idle mapped block back. Nothing happens if the tables have no room.
void DeviceAllocator::unmap_pages(BlockId id, const Origin& origin) {
  const Block row = state_.block(id);
  const Segment& segment = state_.segment_of(id);
  const auto page = static_cast<uint64_t>(owners_[row.segment.index()].page_size);
  const uint64_t first = segment.address + (row.address - segment.address + page - 1) / page * page;
  const uint64_t end = segment.address + (row.end() - segment.address) / page * page;
  if (end <= first) return;
  const auto bytes = static_cast<int64_t>(end - first);
  BlockSet& set = set_of(id);
  set.erase(id);
  const MemoryState::Unmapped unmapped = state_.segment_unmap(id, first, bytes);
  if (unmapped.block.is_none()) return set.insert(id);
  for (const BlockId rest : {unmapped.before, unmapped.after}) {
    number_block(rest);
    if (!rest.is_none()) set.insert(rest);
  }
  for (const BlockId gone : unmapped.absorbed) {
    if (!gone.is_none()) set.erase_unmapped(gone);
  }
  device_.wait_for_stream(segment.stream);
  device_.unmap(first, bytes, static_cast<int64_t>(page));
  device_bytes_ -= bytes;
  ++state_.stats().num_device_free;
  tell(Action::segment_unmap, first, bytes, segment, origin.stack.is_none() ? segment.stack : origin.stack,
       origin.metadata);
  set.insert_unmapped(unmapped.block);
  if (!state_.block(unmapped.block).is_split()) release_reservation(unmapped.block);
}

// The block is a whole reservation of which nothing is mapped.
void DeviceAllocator::release_reservation(BlockId unmapped) {
  const SegmentId id = state_.block(unmapped).segment;
  set_of(unmapped).erase_unmapped(unmapped);
  device_.release(state_.segment(id).address, state_.segment(id).size);
  remove_segment(id);
}

}  // namespace gpustrata::alloc
