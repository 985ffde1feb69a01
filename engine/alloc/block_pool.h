// A pool: the default one, or a private one of a MemPool or CUDA graph.
#pragma once

#include "engine/alloc/block_set.h"
#include "engine/alloc/device_memory.h"

namespace gpustrata::alloc {

struct BlockPool {
  BlockPool(trace::PoolKey pool_key, MemoryState& state) : key(pool_key), small(state), large(state) {}

  trace::PoolKey key;
  BlockSet small, large;
  int use_count = 1;        // of a private pool; 0 = freeable
  int64_t segments = 0;     // owned, expandable ones as reservations: the pool lives while there are any
  bool no_split = false;    // blocks are handed out whole
  bool use_on_oom = false;  // serves the default pool before out of memory
  SegmentSource* source = nullptr;  // own allocator, or null

  [[nodiscard]] bool is_default() const { return key == trace::PoolKey{}; }
  [[nodiscard]] BlockSet& set(bool is_small) { return is_small ? small : large; }
};

}  // namespace gpustrata::alloc
