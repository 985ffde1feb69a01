// malloc and free: the order in which memory is looked for, splitting, and the books.
#include "engine/alloc/device_allocator.h"

#include <cmath>
#include <utility>

namespace gpustrata::alloc {

using trace::Action;

DeviceAllocator::DeviceAllocator(DeviceMemory& device, int ordinal, const Config& config,
                                 trace::EventSink* sink, Budget& budget)
    : device_(device), ordinal_(ordinal), config_(config), sink_(sink), state_(budget), cross_(budget) {
  add_pool(PoolKey{});
  state_.stats().max_split_size = config_.max_split_size == kUnlimited ? -1 : config_.max_split_size;
  (void)set_memory_fraction(config_.per_process_memory_fraction);
}

DeviceAllocator::~DeviceAllocator() = default;

void DeviceAllocator::tell(Action action, uint64_t address, int64_t size, const Segment& segment,
                           StackId stack, StringId metadata) {
  if (sink_ == nullptr) return;
  trace::TraceEvent event;
  event.address = address;
  event.size = size;
  event.stream = segment.stream;
  event.pool = segment.pool;
  event.stack = stack;
  event.metadata = metadata;
  event.action = action;
  sink_->on_event(event);
}

DeviceAllocator::Attempt DeviceAllocator::no_room() {
  failure_ = {ErrorCode::limit_exceeded, "The tables of the allocator need more memory than they may take.",
              -1};
  return Attempt::failed;
}

SegmentId DeviceAllocator::add_segment(const SegmentInfo& info, SegmentOwner owner) {
  const SegmentId id = state_.segment_alloc(info);
  if (id.is_none()) return {};
  if (owners_.size() <= id.index()) owners_.resize(id.index() + 1);
  owners_[id.index()] = owner;
  ++owner.pool->segments;
  return id;
}

void DeviceAllocator::remove_segment(SegmentId id) {
  --owners_[id.index()].pool->segments;
  state_.segment_free(id);
}

// --- malloc ------------------------------------------------------------------------------------------------

Result<uint64_t> DeviceAllocator::malloc(int64_t size, int64_t stream, const Origin& origin) {
  if (size <= 0)
    return fail(ErrorCode::wrong_usage, -1, "a request must be for more than 0 bytes, not {}", size);
  if (!deferring()) {
    if (!deferred_.empty() || cross_.outstanding() > 0) process_events(origin);
  } else if (config_.graph_capture_record_stream_reuse) {
    reuse_in_capture(stream, origin);
  }
  Request request;
  request.requested = size;
  // Beyond that no device goes: it will be out of memory, and sums do not overflow.
  request.rounded = size > kLargestRequest ? kLargestRequest : config_.round_size(size);
  request.stream = stream;
  request.small = Config::is_small(request.rounded);
  request.pool = &pool_for(stream);
  request.expandable = config_.expandable_segments && request.pool->source == nullptr;
  request.origin = origin;

  BlockId block = find_free_block(request);
  if (block.is_none()) {
    switch (find_or_make_block(request, block)) {
      case Attempt::success:
        break;
      case Attempt::failed:
        return tl::unexpected(failure_);
      case Attempt::out_of_memory:
        return tl::unexpected(out_of_memory(request, false));
      case Attempt::rejected:
        return tl::unexpected(out_of_memory(request, true));
    }
  }
  return hand_out(block, request);
}

// The cache has nothing that fits: all further ways, in PyTorch's order. On success `block` is outside its
// set.
DeviceAllocator::Attempt DeviceAllocator::find_or_make_block(Request& request, BlockId& block) {
  request.segment_bytes = config_.segment_size(request.rounded);
  if (allowed_ >= 0 && config_.garbage_collection_threshold > 0) collect_garbage(request.origin);

  Attempt attempt = allocate_from_device(request, block);
  if (attempt != Attempt::out_of_memory) return attempt;
  if (block = find_in_use_on_oom_pools(request); !block.is_none()) return Attempt::success;
  if (release_available(request)) {
    attempt = allocate_from_device(request, block);
    if (attempt != Attempt::out_of_memory) return attempt;
  }
  if (deferring()) return Attempt::out_of_memory;
  release_cached(PoolKey{}, request.origin);
  ++state_.stats().num_alloc_retries;
  return allocate_from_device(request, block);
}

BlockPool& DeviceAllocator::pool_for(int64_t stream) {
  for (auto routing = routings_.rbegin(); routing != routings_.rend(); ++routing) {
    if (!routing->accepts || routing->accepts(stream)) return *routing->pool;
  }
  return *pools_.front();
}

BlockId DeviceAllocator::find_free_block(const Request& request) {
  BlockSet& set = request.set();
  if (allowed_ >= 0 && config_.garbage_collection_threshold > 0) ++set.searches;
  const BlockId first = set.first_of_at_least(request.stream, request.rounded);
  if (first.is_none()) return {};
  BlockId id = first;
  if (state_.block(id).expandable) {
    id = find_with_pages(request, id);
    if (id.is_none()) return {};
  }
  if (preference_ != nullptr) id = preference_->prefer(set, first, id);
  const int64_t size = state_.block(id).size;
  // Oversize blocks serve oversize requests only, and those only if little is wasted: nothing is split.
  if (request.rounded < config_.max_split_size && size >= config_.max_split_size) return {};
  if (request.rounded >= config_.max_split_size &&
      size >= request.rounded + config_.max_non_split_rounding_size)
    return {};
  set.erase(id);
  return id;
}

// The same where the first block that is large enough is expandable.
BlockId DeviceAllocator::find_with_pages(const Request& request, BlockId first) const {
  const BlockSet& set = request.set();
  const auto is_expandable = [&](BlockId b) { return state_.block(b).expandable; };
  BlockId id = first;
  if (!request.expandable) {
    do {
      id = set.after(id);
    } while (!id.is_none() && is_expandable(id));
    return id;
  }
  // A block that could grow counts with all it could grow to: interior holes come first, even larger ones.
  const auto effective = [&](BlockId b) {
    const Block& row = state_.block(b);
    const bool grows = !row.next.is_none() && !state_.block(row.next).mapped;
    return row.size + (grows ? state_.block(row.next).size : 0);
  };
  int64_t size = effective(id);
  while (is_expandable(id)) {
    const BlockId next = set.after(id);
    if (next.is_none()) break;
    const int64_t next_size = effective(next);
    if (next_size >= size) break;
    id = next;
    size = next_size;
  }
  return id;
}

BlockId DeviceAllocator::find_in_use_on_oom_pools(Request& request) {
  if (!request.pool->is_default()) return {};
  for (const auto& pool : pools_) {
    if (!pool->use_on_oom) continue;
    Request elsewhere = request;
    elsewhere.pool = pool.get();
    elsewhere.expandable = false;
    const BlockId found = find_free_block(elsewhere);
    if (found.is_none()) continue;
    request = elsewhere;
    return found;
  }
  return {};
}

DeviceAllocator::Attempt DeviceAllocator::allocate_from_device(const Request& request, BlockId& block) {
  if (allowed_ >= 0 && request.segment_bytes > allowed_ - device_bytes_) return Attempt::out_of_memory;
  if (config_.throw_on_cudamalloc_oom && request.segment_bytes > most_before_rejection() - device_bytes_)
    return Attempt::rejected;
  if (request.expandable) return allocate_expandable(request, block);

  BlockPool& pool = *request.pool;
  const int64_t bytes = request.segment_bytes;
  SegmentInfo info;
  info.size = bytes;
  info.stream = request.stream;
  info.pool = pool.key;
  info.small = request.small;
  info.stack = request.origin.stack;
  info.number = new_number();
  if (pool.source != nullptr) {
    info.address = pool.source->allocate(bytes, ordinal_, request.stream);
    if (info.address == 0) return Attempt::out_of_memory;
  } else {
    auto allocated = device_.allocate(bytes);
    if (!allocated) {
      if (allocated.error().out_of_memory) return Attempt::out_of_memory;
      failure_ = {ErrorCode::device_error, std::move(allocated.error().text), -1};
      return Attempt::failed;
    }
    info.address = *allocated;
  }
  const SegmentId segment = add_segment(info, {&pool, 0});
  if (segment.is_none()) {
    if (pool.source != nullptr) {
      pool.source->free(info.address, bytes, ordinal_, request.stream);
    } else {
      device_.free(info.address, bytes);
    }
    return no_room();
  }
  device_bytes_ += bytes;
  if (bytes >= config_.max_split_size) state_.stats().oversize_segments.change(1);
  ++state_.stats().num_device_alloc;
  tell(Action::segment_alloc, info.address, bytes, state_.segment(segment), request.origin.stack,
       request.origin.metadata);
  block = state_.segment(segment).first;
  return Attempt::success;
}

// The configured share of the device; what set_memory_fraction() says is no part of it.
int64_t DeviceAllocator::most_before_rejection() const {
  const double share = config_.per_process_memory_fraction;
  const int64_t total = device_.info().total_bytes;
  return share < 1 ? static_cast<int64_t>(std::floor(share * static_cast<double>(total))) : total;
}

bool DeviceAllocator::should_split(const Block& block, const Request& request) const {
  if (request.pool->no_split) return false;
  const int64_t rest = block.size - request.rounded;
  if (request.small || request.expandable) return rest >= kMinBlockSize;
  return request.rounded < config_.max_split_size && rest > kSmallSize;
}

Result<uint64_t> DeviceAllocator::hand_out(BlockId id, const Request& request) {
  const Block& found = state_.block(id);
  return hand_out_part(id, should_split(found, request) ? request.rounded : found.size, request);
}

// The first `size` bytes of an idle block outside its set; the rest of it goes there.
Result<uint64_t> DeviceAllocator::hand_out_part(BlockId id, int64_t size, const Request& request) {
  const Carved carved =
      state_.alloc(id, size, {request.requested, request.origin.stack, request.origin.metadata});
  if (carved.block.is_none()) {
    put(id);
    (void)no_room();
    return tl::unexpected(failure_);
  }
  if (!carved.after.is_none()) {
    number_block(carved.block);
    put(carved.after);
  }
  const uint64_t address = state_.block(carved.block).address;
  tell(Action::alloc, address, request.requested, state_.segment_of(carved.block), request.origin.stack,
       request.origin.metadata);
  if (size >= config_.max_split_size) state_.stats().oversize_allocations.change(1);
  return address;
}

// --- free --------------------------------------------------------------------------------------------------

Status DeviceAllocator::free(uint64_t address, const Origin& origin) {
  const BlockId id = state_.live_block_at(address);
  if (id.is_none() || state_.block(id).state != BlockState::active_allocated)
    return fail(ErrorCode::wrong_usage, -1, "invalid device pointer: no allocation starts at {:#x}", address);
  const Block& block = state_.block(id);
  state_.free_requested(id);
  tell(Action::free_requested, address, block.requested_size, state_.segment_of(id),
       origin.stack.is_none() ? block.stack : origin.stack, origin.metadata);
  if (block.size >= config_.max_split_size) state_.stats().oversize_allocations.change(-1);
  if (!cross_.has_uses(id)) {
    complete_free(id, origin);
  } else if (deferring()) {
    deferred_.push_back({id, capture_markers(id)});
  } else {
    record_marks(id, origin);
  }
  Status done;  // not `return {}`, which would clear the room for an error first
  return done;
}

void DeviceAllocator::complete_free(BlockId id, const Origin& origin) {
  const Block& block = state_.block(id);
  const Segment& segment = state_.segment_of(id);
  tell(Action::free_completed, block.address, block.requested_size, segment,
       origin.stack.is_none() ? block.stack : origin.stack, origin.metadata);
  BlockSet& set = set_of(id);
  const Merged merged = state_.free_completed(id);
  for (const BlockId neighbour : merged.absorbed) {
    if (!neighbour.is_none()) set.erase_absorbed(neighbour, segment.stream);
  }
  set.insert(id);
}

Status DeviceAllocator::record_stream(uint64_t address, int64_t stream) {
  const BlockId id = state_.live_block_at(address);
  if (id.is_none() || state_.block(id).state != BlockState::active_allocated) return {};
  if (stream != state_.segment_of(id).stream && !cross_.add_use(id, stream, deferring()))
    return fail(ErrorCode::limit_exceeded, -1, "no memory to note that a stream uses the block at {:#x}",
                address);
  return {};
}

Result<DeviceAllocator::BaseAllocation> DeviceAllocator::base_allocation(uint64_t address) const {
  const BlockId id = state_.block_containing(address);
  if (id.is_none() || !state_.block(id).is_active())
    return fail(ErrorCode::wrong_usage, -1, "no allocation holds the address {:#x}", address);
  const Segment& segment = state_.segment_of(id);
  if (segment.expandable)
    return fail(ErrorCode::wrong_usage, -1,
                "{:#x} lies in an expandable segment, which has no base allocation", address);
  return BaseAllocation{segment.address, segment.size};
}

// --- Settings ----------------------------------------------------------------------------------------------

Status DeviceAllocator::set_config(std::string_view settings) { return apply_settings(config_, settings); }

Status DeviceAllocator::set_free_order(FreeOrder order) {
  if (state_.segment_count() > 0)
    return fail(ErrorCode::wrong_usage, -1,
                "the order of free blocks can only be chosen before the first request");
  config_.free_order = order;
  return {};
}

Status DeviceAllocator::set_memory_fraction(double fraction) {
  if (!(fraction >= 0 && fraction <= 1))
    return fail(ErrorCode::wrong_usage, -1, "the memory fraction must be from 0 to 1, not {}", fraction);
  const auto total = static_cast<double>(device_.info().total_bytes);
  allowed_ = fraction < 1 ? static_cast<int64_t>(std::floor(fraction * total)) : -1;
  return {};
}

double DeviceAllocator::memory_fraction() const {
  const int64_t total = device_.info().total_bytes;
  return allowed_ < 0 || total <= 0 ? 1.0 : static_cast<double>(allowed_) / static_cast<double>(total);
}

void DeviceAllocator::add_oom_observer(OomObserver observer) {
  oom_observers_.push_back(std::move(observer));
}

int64_t DeviceAllocator::note_snapshot() {
  const int64_t active = stats().active_bytes.all().current;  // what the listed segments add up to
  tell(Action::snapshot, 0, active, Segment{}, StackId());
  return active;
}

}  // namespace gpustrata::alloc
