#include "engine/alloc/stats.h"

#include <fmt/core.h>

namespace gpustrata::alloc {

void MemoryStats::reset_peak() {
  for (const PoolStatName& row : kPoolStats) (this->*row.stat).reset_peak();
  for (auto& [pool, stat] : reserved_bytes_by_private_pools) stat.reset_peak();
  oversize_allocations.reset_peak();
  oversize_segments.reset_peak();
}

void MemoryStats::reset_accumulated() {
  for (const PoolStatName& row : kPoolStats) (this->*row.stat).reset_accumulated();
  for (auto& [pool, stat] : reserved_bytes_by_private_pools) stat.reset_accumulated();
  oversize_allocations.reset_accumulated();
  oversize_segments.reset_accumulated();
  num_alloc_retries = num_ooms = num_oom_rejections = 0;
  num_sync_all_streams = num_device_alloc = num_device_free = 0;
}

std::vector<NamedStat> flat_stats(const MemoryStats& stats) {
  std::vector<NamedStat> flat;
  flat.reserve(123 + 12 * stats.reserved_bytes_by_private_pools.size());
  const auto add = [&](std::string_view prefix, const Stat& stat) {
    flat.push_back({fmt::format("{}.current", prefix), stat.current});
    flat.push_back({fmt::format("{}.peak", prefix), stat.peak});
    flat.push_back({fmt::format("{}.allocated", prefix), stat.allocated});
    flat.push_back({fmt::format("{}.freed", prefix), stat.freed});
  };
  const auto add_pools = [&](std::string_view name, const PoolStat& stat) {
    add(fmt::format("{}.all", name), stat.all());
    add(fmt::format("{}.small_pool", name), stat.small_pool());
    add(fmt::format("{}.large_pool", name), stat.large_pool());
  };
  for (const PoolStatName& row : kPoolStats) add_pools(row.name, stats.*row.stat);
  for (const auto& [pool, stat] : stats.reserved_bytes_by_private_pools)
    add_pools(fmt::format("reserved_bytes_by_private_pools.{}_{}", pool.graph_id, pool.user_id), stat);
  add("oversize_allocations", stats.oversize_allocations);
  add("oversize_segments", stats.oversize_segments);
  flat.push_back({"num_alloc_retries", stats.num_alloc_retries});
  flat.push_back({"num_ooms", stats.num_ooms});
  flat.push_back({"num_oom_rejections", stats.num_oom_rejections});
  flat.push_back({"num_sync_all_streams", stats.num_sync_all_streams});
  flat.push_back({"num_device_alloc", stats.num_device_alloc});
  flat.push_back({"num_device_free", stats.num_device_free});
  flat.push_back({"max_split_size", stats.max_split_size});
  std::sort(flat.begin(), flat.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return flat;
}

}  // namespace gpustrata::alloc
