#include "engine/alloc/memory_summary.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace gpustrata::alloc {

namespace {

enum class Unit : uint8_t { bytes, count };

// Ten characters. `by` chooses the unit: one step up while it is at least this many of the smaller one.
[[nodiscard]] std::string cell(Unit unit, int64_t value, int64_t by) {
  constexpr std::array<std::string_view, 6> kBytes = {"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"};
  constexpr std::array<std::string_view, 3> kCounts = {" ", "K", "M"};
  const int64_t step = unit == Unit::bytes ? 1024 : 1000;
  const double most = unit == Unit::bytes ? 768.0 * 1024 : 750'000;
  const size_t units = unit == Unit::bytes ? kBytes.size() : kCounts.size();
  size_t at = 0;
  for (auto left = static_cast<double>(by); at + 1 < units && left >= most; ++at) {
    left /= static_cast<double>(step);
    value /= step;
  }
  return unit == Unit::bytes ? fmt::format("{:6} {}", value, kBytes[at])
                             : fmt::format("{:7} {} ", value, kCounts[at]);
}

[[nodiscard]] std::string row(std::string_view name, Unit unit, const Stat& stat, const Stat& all) {
  return fmt::format("| {:<21} | {} | {} | {} | {} |\n", name, cell(unit, stat.current, all.current),
                     cell(unit, stat.peak, all.peak), cell(unit, stat.allocated, all.allocated),
                     cell(unit, stat.freed, all.freed));
}

struct Row {
  std::string_view name;
  Unit unit;
  PoolStat MemoryStats::*stat;
};
constexpr Row kRows[] = {
    {"Allocated memory", Unit::bytes, &MemoryStats::allocated_bytes},
    {"Active memory", Unit::bytes, &MemoryStats::active_bytes},
    {"Requested memory", Unit::bytes, &MemoryStats::requested_bytes},
    {"GPU reserved memory", Unit::bytes, &MemoryStats::reserved_bytes},
    {"Non-releasable memory", Unit::bytes, &MemoryStats::inactive_split_bytes},
    {"Allocations", Unit::count, &MemoryStats::allocation},
    {"Active allocs", Unit::count, &MemoryStats::active},
    {"GPU reserved segments", Unit::count, &MemoryStats::segment},
    {"Non-releasable allocs", Unit::count, &MemoryStats::inactive_split},
};

}  // namespace

std::string memory_summary(const MemoryStats& stats, int device, bool abbreviated) {
  const std::string thick = fmt::format("|{:=<75}|\n", "");
  const std::string thin = fmt::format("|{:-<75}|\n", "");
  std::string text = thick;
  text += fmt::format("| {:16} PyTorch CUDA memory summary, device ID {:<17} |\n", "", device);
  text += thin;
  text += fmt::format("| {:9}  CUDA OOMs: {:<12} | {:6} cudaMalloc retries: {:<8}  |\n", "", stats.num_ooms,
                      "", stats.num_alloc_retries);
  text += thick;
  text += "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n";
  for (const Row& line : kRows) {
    const PoolStat& stat = stats.*line.stat;
    text += thin;
    const Stat all = stat.all();
    text += row(line.name, line.unit, all, all);
    if (abbreviated) continue;
    text += row("      from large pool", line.unit, stat.large_pool(), all);
    text += row("      from small pool", line.unit, stat.small_pool(), all);
  }
  text += thin;
  text += row("Oversize allocations", Unit::count, stats.oversize_allocations, stats.oversize_allocations);
  text += thin;
  text += row("Oversize GPU segments", Unit::count, stats.oversize_segments, stats.oversize_segments);
  return text + thick;
}

}  // namespace gpustrata::alloc
