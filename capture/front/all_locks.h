// Every device's lock and the recorder's, in the order that all take them.
#pragma once

#include <mutex>
#include <vector>

#include "capture/front/caching_allocator.h"

namespace gpustrata::capture {

class CachingAllocator::AllLocks {
 public:
  explicit AllLocks(CachingAllocator& all) {
    if (all.opened_.load(std::memory_order_acquire)) {
      for (const auto& device : all.devices_) guards_.emplace_back(device->lock);
    }
    guards_.emplace_back(all.recorder_lock_);
  }

 private:
  std::vector<std::unique_lock<std::mutex>> guards_;
};

}  // namespace gpustrata::capture
