// Rows of a Recording from allocators that run in this process: events as they are told, segments and blocks as
// they are.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/alloc/device_allocator.h"
#include "engine/model/recording.h"
#include "engine/trace/trace_event.h"

namespace gpustrata::model {

class AllocatorRows {
 public:
  // Stacks and texts of events and blocks are ids of `recording`.
  explicit AllocatorRows(Recording& recording) : recording_(recording) {}

  // False: the budget refuses.
  [[nodiscard]] bool append_event(const trace::TraceEvent& event);
  // In address order; of expandable segments one row for each mapped range, as PyTorch lists them. `pool`: only its
  // segments. O(blocks). False: the budget refuses, some rows may be there.
  [[nodiscard]] bool append_segments(const alloc::DeviceAllocator& allocator,
                                     std::optional<trace::PoolKey> pool);

 private:
  // Handles in a row are often equal: the last one is remembered.
  template <typename Key, typename Id>
  class LastSeen {
   public:
    template <typename Intern>
    [[nodiscard]] Id operator()(const Key& key, Intern&& intern) {
      if (id_.is_none() || !(key == key_)) {
        key_ = key;
        id_ = intern(key);
      }
      return id_;
    }

   private:
    Key key_{};
    Id id_;
  };

  [[nodiscard]] StreamId stream(int64_t handle);
  [[nodiscard]] PoolId pool(const trace::PoolKey& pool);
  [[nodiscard]] StackId stack_or_empty(StackId stack);
  [[nodiscard]] bool append_mapped_range(int device, const alloc::MemoryState& state,
                                         const alloc::Segment& segment, alloc::BlockId& at);

  Recording& recording_;
  StackId empty_;
  LastSeen<int64_t, StreamId> last_stream_;
  LastSeen<trace::PoolKey, PoolId> last_pool_;
};

}  // namespace gpustrata::model
