#include "engine/alloc/simulated_device.h"

#include <cassert>
#include <utility>

namespace memstrata::alloc {

void SimulatedDevice::finish(int64_t stream) {
  for (auto& [handle, event] : events_) {
    if (event.stream == stream) event.finished = true;
  }
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

DeviceResult<uint64_t> SimulatedDevice::next_range(int64_t bytes) {
  const uint64_t aligned = (static_cast<uint64_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  if (aligned > UINT64_MAX - next_address_) return tl::unexpected(DeviceFailure{true, "no addresses left"});
  const uint64_t address = next_address_;
  next_address_ += aligned;
  ranges_.push_back(address);
  return address;
}

DeviceResult<uint64_t> SimulatedDevice::allocate(int64_t bytes) {
  DeviceFailure failure;
  if (refused(bytes, failure)) return tl::unexpected(std::move(failure));
  auto address = next_range(bytes);
  if (address) free_ -= bytes;
  return address;
}

void SimulatedDevice::free(uint64_t address, int64_t bytes) {
  (void)address;
  free_ += bytes;
}

DeviceResult<uint64_t> SimulatedDevice::reserve(int64_t bytes) { return next_range(bytes); }

void SimulatedDevice::release(uint64_t address, int64_t bytes) { (void)address, (void)bytes; }

DeviceResult<void> SimulatedDevice::map(uint64_t address, int64_t bytes, int64_t page_bytes) {
  assert(bytes % page_bytes == 0);
  (void)address, (void)page_bytes;
  DeviceFailure failure;
  if (refused(bytes, failure)) return tl::unexpected(std::move(failure));
  free_ -= bytes;
  return {};
}

void SimulatedDevice::unmap(uint64_t address, int64_t bytes, int64_t page_bytes) {
  (void)address, (void)page_bytes;
  free_ += bytes;
}

DeviceResult<EventHandle> SimulatedDevice::record_event(int64_t stream) {
  events_[next_event_] = {stream, false};
  return next_event_++;
}

bool SimulatedDevice::is_finished(EventHandle event) { return events_.at(event).finished; }
void SimulatedDevice::wait(EventHandle event) { events_.at(event).finished = true; }
void SimulatedDevice::release_event(EventHandle event) { events_.erase(event); }

}  // namespace memstrata::alloc
