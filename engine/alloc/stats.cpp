#include "engine/alloc/stats.h"

#include <fmt/core.h>

#include <algorithm>

namespace gpustrata::alloc {

void MemoryStats::reset_peak() {
  for (const PoolStatName& row : kPoolStats) (this->*row.stat).reset_peak();
  oversize_allocations.reset_peak();
  oversize_segments.reset_peak();
}

void MemoryStats::reset_accumulated() {
  for (const PoolStatName& row : kPoolStats) (this->*row.stat).reset_accumulated();
  oversize_allocations.reset_accumulated();
  oversize_segments.reset_accumulated();
  num_alloc_retries = num_ooms = num_oom_rejections = 0;
  num_sync_all_streams = num_device_alloc = num_device_free = 0;
}

std::vector<NamedStat> flat_stats(const MemoryStats& stats) {
  std::vector<NamedStat> flat;
  flat.reserve(123);
  const auto add = [&](std::string_view prefix, const Stat& stat) {
    flat.push_back({fmt::format("{}.current", prefix), stat.current});
    flat.push_back({fmt::format("{}.peak", prefix), stat.peak});
    flat.push_back({fmt::format("{}.allocated", prefix), stat.allocated});
    flat.push_back({fmt::format("{}.freed", prefix), stat.freed});
  };
  for (const PoolStatName& row : kPoolStats) {
    const PoolStat& stat = stats.*row.stat;
    add(fmt::format("{}.all", row.name), stat.all());
    add(fmt::format("{}.small_pool", row.name), stat.small_pool());
    add(fmt::format("{}.large_pool", row.name), stat.large_pool());
  }
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
