#include "engine/simulate/runner.h"

#include "engine/base/memory_refused.h"

namespace gpustrata::simulate {

Status check_capacity(int64_t bytes) {
  if (bytes > 0 && bytes <= kLargestDevice) return {};
  return fail(ErrorCode::wrong_usage, -1, "the device must have from 1 to {} bytes, not {}", kLargestDevice,
              bytes);
}

Runner::Runner(const RunInput& input, const StringPool& strings, trace::EventSink* sink, Budget& budget)
    : input_(input),
      strings_(strings),
      budget_(budget),
      device_(input.capacity, budget),
      allocator_(device_, input.ordinal, input.config, sink, budget) {
  if (input.addresses != nullptr) device_.take_addresses_from(*input.addresses);
}

Status Runner::begin() {
  if (auto status = check_capacity(input_.capacity); !status) return status;
  if (!address_.reserve(input_.log.size_rows())) return no_memory();
  if (input_.start == nullptr) return {};
  allocator_.set_adopted_numbers(input_.start_numbers);
  for (const StartLayout::Segment& segment : input_.start->segments) {
    if (auto status = adopt(segment); !status) return status;
  }
  return {};
}

Status Runner::adopt(const StartLayout::Segment& segment) {
  const StartLayout& start = *input_.start;
  const alloc::SegmentInfo& info = segment.info;
  const auto ranges = start.ranges.span().subspan(static_cast<size_t>(segment.ranges.first),
                                                  static_cast<size_t>(segment.ranges.count));
  bool is_free = true;
  if (!info.expandable) is_free = device_.occupy(info.address, info.size, info.size);
  for (const alloc::AdoptedRange& range : ranges) {
    const auto behind = static_cast<int64_t>(info.address + static_cast<uint64_t>(info.size) - range.address);
    is_free = is_free && device_.occupy(range.address, range.size, behind);
  }
  if (!is_free)
    return fail(ErrorCode::wrong_usage, -1, "segments meet at {:#x}, or there is no memory to note them",
                info.address);
  return allocator_.adopt(info, segment.page_size, ranges,
                          start.blocks.span().subspan(static_cast<size_t>(segment.blocks.first),
                                                      static_cast<size_t>(segment.blocks.count)));
}

Status Runner::no_memory() const { return memory_refused(budget_, "for the simulation"); }

alloc::Origin Runner::origin_of(size_t row) const {
  const RequestLog& log = input_.log;
  return {log.stack[row], log.request[row] == Request::allocate ? log.text[row] : StringId()};
}

Status Runner::step() {
  is_out_of_memory_ = false;
  if (at_inserted()) {
    if (inserted_address_.size() == inserted_at_ && !inserted_address_.push_back(0)) return no_memory();
    Status status = check(apply(input_.inserted[inserted_at_]));
    if (status) ++inserted_at_;
    return status;
  }
  if (address_.size() == at_ && !address_.push_back(0)) return no_memory();
  Status status = check(apply(at_));
  if (status) ++at_;
  return status;
}

// A simulated device has no other errors of its own, and a free waits at once only if its mark found no room.
Status Runner::check(Status status) const {
  const bool refused = !status && status.error().code == ErrorCode::device_error;
  return allocator_.forced_waits() > 0 || refused ? no_memory() : status;
}

Status Runner::apply(const Inserted& inserted) {
  switch (inserted.request) {
    case Request::allocate: {
      const auto allocated = allocator_.malloc(inserted.size, inserted.stream);
      if (allocated) inserted_address_.back() = *allocated;
      is_out_of_memory_ = !allocated && allocated.error().code == ErrorCode::out_of_memory;
      return allocated || is_out_of_memory_ ? Status() : Status(tl::unexpected(allocated.error()));
    }
    case Request::free: {
      const uint64_t address = inserted_address_[inserted.subject];
      return address == 0 ? Status() : allocator_.free(address);
    }
    default:
      allocator_.empty_cache();
      return {};
  }
}

Status Runner::allocate(size_t row) {
  if (size_of(row) == 0) return {};
  const int32_t pool = input_.log.subject[row];
  return pool < 0 ? ask(row) : allocate_from(input_.log.pools[static_cast<size_t>(pool)], row);
}

// Routes this one request to a private pool, which has as many users after it as before.
Status Runner::allocate_from(trace::PoolKey pool, size_t row) {
  const bool is_known = allocator_.pool_use_count(pool) > 0;
  if (auto status = allocator_.begin_allocate_to_pool(pool); !status) return status;
  Status asked = ask(row);
  (void)allocator_.end_allocate_to_pool(pool);
  if (is_known) (void)allocator_.release_pool(pool);
  return asked;
}

Status Runner::ask(size_t row) {
  const auto allocated = allocator_.malloc(size_of(row), input_.log.stream[row], origin_of(row));
  if (allocated) {
    address_[row] = *allocated;
    return {};
  }
  is_out_of_memory_ = allocated.error().code == ErrorCode::out_of_memory;
  if (is_out_of_memory_) return {};
  return tl::unexpected(allocated.error());
}

Status Runner::apply(size_t row) {
  const RequestLog& log = input_.log;
  const auto pool = [&] { return log.pools[static_cast<size_t>(log.subject[row])]; };
  const auto block = [&] { return address_[log.subject[row]]; };
  const int64_t stream = log.stream[row];
  switch (log.request[row]) {
    case Request::present: {
      const uint64_t address = input_.start->blocks[log.subject[row]].address;
      if (size_of(row) == 0) return allocator_.free(address);  // left out: its place is cached memory
      address_[row] = address;
      return {};
    }
    case Request::allocate:
      return allocate(row);
    case Request::free:
      return block() == 0 ? Status() : allocator_.free(block(), origin_of(row));
    case Request::record_stream:
      return block() == 0 ? Status() : allocator_.record_stream(block(), stream);
    case Request::finish_stream:
      device_.finish(stream);
      return {};
    case Request::empty_cache:
      allocator_.empty_cache(log.subject[row] < 0 ? trace::PoolKey() : pool(), origin_of(row));
      return {};
    case Request::settings:
      return allocator_.set_config(strings_.view(log.text[row]));
    case Request::memory_fraction:
      return allocator_.set_memory_fraction(log.fractions[log.subject[row]]);
    case Request::snapshot:
      (void)allocator_.note_snapshot();
      return {};
    case Request::begin_pool:
      return allocator_.begin_allocate_to_pool(pool());
    case Request::begin_pool_of_stream:
      return allocator_.begin_allocate_to_pool(pool(), [stream](int64_t asking) { return asking == stream; });
    case Request::end_pool:
      return allocator_.end_allocate_to_pool(pool());
    case Request::release_pool:
      return allocator_.release_pool(pool());
    case Request::no_split:
      return allocator_.set_no_split(pool());
    case Request::use_on_oom:
      return allocator_.set_use_on_oom(pool(), true);
    case Request::no_use_on_oom:
      return allocator_.set_use_on_oom(pool(), false);
    case Request::reset_peak:
      allocator_.reset_peak_stats();
      return {};
    case Request::reset_accumulated:
      allocator_.reset_accumulated_stats();
      return {};
    case Request::defer_by_capture:
      allocator_.set_defer(alloc::DeviceAllocator::Defer::while_capturing);
      return {};
    case Request::begin_capture:
      allocator_.begin_capture();
      return {};
    case Request::end_capture:
      return allocator_.end_capture();
    case Request::free_order:
      return allocator_.set_free_order(
          alloc::free_order_of(strings_.view(log.text[row])).value_or(alloc::FreeOrder::address));
  }
  return {};
}

}  // namespace gpustrata::simulate
