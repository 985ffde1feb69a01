#include "engine/alloc/simulated_device.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace gpustrata::alloc {

Budget& SimulatedDevice::unlimited() {
  static Budget budget(INT64_MAX);
  return budget;
}

SimulatedDevice::~SimulatedDevice() { budget_.give_back(kEventBytes * static_cast<int64_t>(events_.size())); }

void SimulatedDevice::finish(int64_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  found->second.finished_before = next_event_;
  news_ = true;
}

void SimulatedDevice::fail_at(int64_t n, DeviceFailure failure) {
  until_failure_ = n;
  ordered_failure_ = std::move(failure);
}

bool SimulatedDevice::refused(int64_t bytes, DeviceFailure& failure) {
  if (until_failure_ > 0 && --until_failure_ == 0) {
    failure = std::exchange(ordered_failure_, {});
    return true;
  }
  failure = {true, "out of memory"};
  return bytes > free_;
}

bool SimulatedDevice::occupy(uint64_t address, int64_t bytes, int64_t reserved) {
  const uint64_t end = address + static_cast<uint64_t>(bytes);
  if (live_.meets(address, end) || !live_.insert(address, end)) return false;
  free_ -= bytes;
  const uint64_t behind = address + static_cast<uint64_t>(reserved);
  next_address_ = std::max(next_address_, (behind + kAlignment - 1) / kAlignment * kAlignment);
  return true;
}

DeviceResult<uint64_t> SimulatedDevice::next_range(int64_t bytes, bool reservation) {
  const uint64_t aligned = (static_cast<uint64_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  if (aligned > UINT64_MAX - next_address_) return tl::unexpected(DeviceFailure{true, "no addresses left"});
  uint64_t address = next_address_;
  if (source_ != nullptr) {
    const uint64_t wanted = source_->next(bytes, reservation);
    const uint64_t used =
        reservation ? 1 : static_cast<uint64_t>(bytes);  // of a reservation, pages come later
    if (wanted != 0 && wanted % kAlignment == 0 && wanted < kHighestAddress &&
        aligned <= kHighestAddress - wanted && !live_.meets(wanted, wanted + used))
      address = wanted;
    if (!reservation && !live_.insert(address, address + used))
      return tl::unexpected(DeviceFailure{false, "no memory for a segment's row"});
  }
  if (!ranges_.push_back(address)) {
    if (source_ != nullptr && !reservation) live_.erase(address, address + static_cast<uint64_t>(bytes));
    return tl::unexpected(DeviceFailure{false, "no memory for a segment's row"});
  }
  next_address_ = std::max(next_address_, address + aligned);
  return address;
}

DeviceResult<uint64_t> SimulatedDevice::allocate(int64_t bytes) {
  DeviceFailure failure;
  if (refused(bytes, failure)) return tl::unexpected(std::move(failure));
  auto address = next_range(bytes, false);
  if (address) free_ -= bytes;
  return address;
}

void SimulatedDevice::free(uint64_t address, int64_t bytes) {
  if (!live_.empty()) live_.erase(address, address + static_cast<uint64_t>(bytes));
  free_ += bytes;
}

DeviceResult<uint64_t> SimulatedDevice::reserve(int64_t bytes) { return next_range(bytes, true); }

void SimulatedDevice::release(uint64_t address, int64_t bytes) { (void)address, (void)bytes; }

DeviceResult<void> SimulatedDevice::map(uint64_t address, int64_t bytes, int64_t page_bytes) {
  assert(bytes % page_bytes == 0);
  (void)page_bytes;
  DeviceFailure failure;
  if (refused(bytes, failure)) return tl::unexpected(std::move(failure));
  if (source_ != nullptr) {
    const uint64_t end = address + static_cast<uint64_t>(bytes);
    // Reservations that were recorded closer to each other than this one's size.
    if (live_.meets(address, end)) return tl::unexpected(DeviceFailure{true, "the addresses are in use"});
    if (!live_.insert(address, end)) return tl::unexpected(DeviceFailure{false, "no memory for pages"});
  }
  free_ -= bytes;
  return {};
}

void SimulatedDevice::unmap(uint64_t address, int64_t bytes, int64_t page_bytes) {
  (void)page_bytes;
  if (!live_.empty()) live_.erase(address, address + static_cast<uint64_t>(bytes));
  free_ += bytes;
}

DeviceResult<EventHandle> SimulatedDevice::record_event(int64_t stream) {
  if (!budget_.take(kEventBytes)) return tl::unexpected(DeviceFailure{false, "no memory for a mark"});
  events_[next_event_] = {stream, false};
  ++streams_[stream].events;
  return next_event_++;
}

bool SimulatedDevice::is_finished(EventHandle handle) {
  const Event& event = events_.at(handle);
  return event.finished || handle < streams_.at(event.stream).finished_before;
}

void SimulatedDevice::wait(EventHandle event) {
  events_.at(event).finished = true;
  news_ = true;
}

bool SimulatedDevice::may_have_finished() { return std::exchange(news_, false); }

void SimulatedDevice::release_event(EventHandle event) {
  const auto found = events_.find(event);
  const auto stream = streams_.find(found->second.stream);
  if (--stream->second.events == 0) streams_.erase(stream);
  events_.erase(found);
  budget_.give_back(kEventBytes);
}

}  // namespace gpustrata::alloc
