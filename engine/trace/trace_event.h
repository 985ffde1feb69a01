// What the allocator says while it works, one event at a time; the recorder keeps it, replay produces the
// same.
//
// Field meanings are those of PyTorch's trace entries. The allocator fills in all but the time and the texts,
// which are the recorder's.
#pragma once

#include <compare>
#include <cstdint>

#include "engine/base/ids.h"
#include "engine/trace/action.h"

namespace gpustrata::trace {

// Name of a pool of blocks: (0, 0) is the default pool, anything else a private pool.
struct PoolKey {
  int64_t graph_id = 0;
  int64_t user_id = 0;
  auto operator<=>(const PoolKey&) const = default;
};

struct TraceEvent {
  uint64_t address = 0;  // oom: free bytes of the device; snapshot: 0
  int64_t size = 0;      // alloc, free_*: requested bytes; segment_*: real bytes; oom: rounded bytes
  int64_t stream = 0;    // raw handle
  int64_t time_us = 0;   // since the Unix epoch
  PoolKey pool;
  StackId stack;      // none = not gathered
  StringId context;   // compile_context; none = absent
  StringId metadata;  // user_metadata; none = absent
  Action action = Action::alloc;
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  // In the order of truth, under the lock of the allocator. Takes no memory on the hot path.
  virtual void on_event(const TraceEvent& event) = 0;
};

}  // namespace gpustrata::trace
