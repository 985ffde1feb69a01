// The numbers of torch.cuda.memory_stats().
//
// Every event changes a number by one amount; increases are summed in `allocated`, decreases in `freed`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/trace/trace_event.h"

namespace gpustrata::alloc {

struct Stat {
  int64_t current = 0;
  int64_t peak = 0;       // largest `current` since the last reset_peak()
  int64_t allocated = 0;  // sum of increases
  int64_t freed = 0;      // sum of decreases

  void change(int64_t amount) {
    current += amount;
    if (amount > 0) {
      allocated += amount;
      if (current > peak) peak = current;
    } else {
      freed -= amount;
    }
  }
  void reset_peak() { peak = current; }
  void reset_accumulated() { allocated = freed = 0; }
  bool operator==(const Stat&) const = default;
};

// One number for all blocks and one for each kind of pool. Private pools count as the default pool does.
//
// malloc and free change a dozen of these: only what cannot be derived is kept (what was freed is what was
// allocated and is not there any more; all is the sum of both kinds, but for its peak), and without branches.
class PoolStat {
 public:
  // `current` grows, falls, or does either; `amount` >= 0 for the first two.
  void increase(bool small, int64_t amount) {
    Counter& pool = pools_[small ? 1 : 0];
    pool.current += amount;
    pool.allocated += amount;
    note_peak(pool);
  }
  void decrease(bool small, int64_t amount) { pools_[small ? 1 : 0].current -= amount; }
  void change(bool small, int64_t amount) {
    Counter& pool = pools_[small ? 1 : 0];
    pool.current += amount;
    pool.allocated += std::max(amount, int64_t{0});
    note_peak(pool);
  }
  void reset_peak() {
    for (Counter& pool : pools_) pool.peak = pool.current;
    peak_ = pools_[0].current + pools_[1].current;
  }
  void reset_accumulated() {
    for (Counter& pool : pools_) pool.allocated = 0, pool.before = pool.current;
  }

  [[nodiscard]] Stat small_pool() const { return pools_[1].stat(); }
  [[nodiscard]] Stat large_pool() const { return pools_[0].stat(); }
  [[nodiscard]] Stat all() const {
    const Stat large = large_pool(), small = small_pool();
    return {large.current + small.current, peak_, large.allocated + small.allocated,
            large.freed + small.freed};
  }
  bool operator==(const PoolStat&) const = default;

 private:
  struct Counter {
    int64_t current = 0, peak = 0, allocated = 0;
    int64_t before = 0;  // `current` when the sums were reset

    [[nodiscard]] Stat stat() const { return {current, peak, allocated, before + allocated - current}; }
    bool operator==(const Counter&) const = default;
  };
  void note_peak(Counter& pool) {
    const int64_t all = pools_[0].current + pools_[1].current;
    if (pool.current > pool.peak) [[unlikely]]
      pool.peak = pool.current;
    if (all > peak_) [[unlikely]]
      peak_ = all;
  }

  std::array<Counter, 2> pools_;  // large, small
  int64_t peak_ = 0;              // of both together
};

struct MemoryStats {
  // Kept by MemoryState.
  PoolStat allocation;            // blocks handed out, until free is requested
  PoolStat segment;               // not expandable ones
  PoolStat active;                // blocks handed out, until free is completed
  PoolStat inactive_split;        // inactive blocks with a neighbour, outside expandable segments
  PoolStat allocated_bytes;       // as allocation
  PoolStat reserved_bytes;        // segments, and mapped pages of expandable segments
  PoolStat active_bytes;          // as active
  PoolStat inactive_split_bytes;  // as inactive_split
  PoolStat requested_bytes;       // what was asked for, as active
  // reserved_bytes of each private pool that ever had memory; a pool that is gone stays, with 0.
  std::map<trace::PoolKey, PoolStat> reserved_bytes_by_private_pools;
  // Kept by DeviceAllocator.
  Stat oversize_allocations;  // blocks of max_split_size and above
  Stat oversize_segments;
  int64_t num_alloc_retries = 0;     // malloc tried again after giving back everything cached
  int64_t num_ooms = 0;              // out of memory was raised
  int64_t num_oom_rejections = 0;    // requests refused before the device was asked (throw_on_cudamalloc_oom)
  int64_t num_sync_all_streams = 0;  // everything cached was given back after waiting for all streams
  int64_t num_device_alloc = 0;      // device allocations and successful mappings
  int64_t num_device_free = 0;       // device frees and unmapped ranges
  int64_t max_split_size = -1;       // when the allocator was made; -1 = unlimited

  void reset_peak();
  // Sums and plain counters to 0; max_split_size stays.
  void reset_accumulated();
  bool operator==(const MemoryStats&) const = default;
};

struct NamedStat {
  std::string name;  // "allocated_bytes.all.current", "num_ooms"
  int64_t value = 0;
};
// The flat form of torch.cuda.memory_stats(): 9 * 3 * 4 + 2 * 4 + 7 = 123 keys, and 12 for each private pool that ever had
// memory (as PyTorch 2.13 and newer); sorted.
[[nodiscard]] std::vector<NamedStat> flat_stats(const MemoryStats& stats);

// The nine rows with pools, in the order of the names.
struct PoolStatName {
  std::string_view name;
  PoolStat MemoryStats::*stat;
};
inline constexpr std::array<PoolStatName, 9> kPoolStats = {{
    {"active", &MemoryStats::active},
    {"active_bytes", &MemoryStats::active_bytes},
    {"allocated_bytes", &MemoryStats::allocated_bytes},
    {"allocation", &MemoryStats::allocation},
    {"inactive_split", &MemoryStats::inactive_split},
    {"inactive_split_bytes", &MemoryStats::inactive_split_bytes},
    {"requested_bytes", &MemoryStats::requested_bytes},
    {"reserved_bytes", &MemoryStats::reserved_bytes},
    {"segment", &MemoryStats::segment},
}};

}  // namespace gpustrata::alloc
