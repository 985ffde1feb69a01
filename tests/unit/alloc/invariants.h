// Checks for tests and debugging: what must hold after every call.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "engine/alloc/memory_state.h"

namespace gpustrata::alloc {

namespace detail {

// Sums over all blocks, as the statistics should have them.
struct Sums {
  int64_t allocation = 0, allocated_bytes = 0, active = 0, active_bytes = 0, requested_bytes = 0;
  int64_t segment = 0, reserved_bytes = 0, inactive_split = 0, inactive_split_bytes = 0;
};

[[nodiscard]] inline std::string check_segment(const MemoryState& state, SegmentId id, Sums& sums,
                                               size_t& blocks, size_t& active) {
  const Segment& segment = state.segment(id);
  uint64_t at = segment.address;
  int64_t mapped = 0;
  BlockId previous;
  for (BlockId i = segment.first; !i.is_none(); i = state.block(i).next) {
    const Block& block = state.block(i);
    ++blocks;
    if (block.segment != id) return fmt::format("block at {:#x} is of another segment", block.address);
    if (block.address != at) return fmt::format("blocks do not tile at {:#x}", at);
    if (block.size <= 0) return fmt::format("block at {:#x} has size {}", at, block.size);
    if (block.previous != previous) return fmt::format("wrong link back at {:#x}", at);
    if (state.block_containing(block.address) != i || state.block_containing(block.end() - 1) != i)
      return fmt::format("block at {:#x} is not found by an address inside", at);
    if (!block.mapped && (block.is_active() || !segment.expandable))
      return fmt::format("block at {:#x} is not mapped", at);
    if (!previous.is_none() && !block.is_active() && !state.block(previous).is_active() &&
        state.block(previous).mapped == block.mapped)
      return fmt::format("idle neighbours at {:#x} are not one block", at);
    if ((state.live_block_at(block.address) == i) != block.is_active())
      return fmt::format("block at {:#x}: its state and the table of live blocks differ", at);
    if (block.is_active()) {
      ++active;
      ++sums.active;
      sums.active_bytes += block.size;
      sums.requested_bytes += block.requested_size;
      if (block.state == BlockState::active_allocated) {
        ++sums.allocation;
        sums.allocated_bytes += block.size;
      }
    } else if (!segment.expandable && block.is_split()) {
      ++sums.inactive_split;
      sums.inactive_split_bytes += block.size;
    }
    if (block.mapped) mapped += block.size;
    at = block.end();
    previous = i;
  }
  if (previous != segment.last) return fmt::format("segment at {:#x}: wrong last block", segment.address);
  if (at != segment.end()) return fmt::format("segment at {:#x} is not filled", segment.address);
  if (mapped != segment.mapped_bytes) return fmt::format("segment at {:#x}: mapped bytes", segment.address);
  sums.reserved_bytes += mapped;
  sums.segment += segment.expandable ? 0 : 1;
  return {};
}

}  // namespace detail

// Empty, or what is wrong first. Segments do not overlap and are in order; blocks tile them, their links
// agree, idle neighbours are one block; every active block is found by its address and nothing else is; the
// current statistics are those of the blocks. O(blocks).
[[nodiscard]] inline std::string check_invariants(const MemoryState& state) {
  using detail::Sums;
  Sums sums[2];  // large, small
  size_t blocks = 0, active = 0;
  uint64_t end = 0;
  for (const SegmentId id : state.segments()) {
    const Segment& segment = state.segment(id);
    if (segment.address < end) return fmt::format("segment at {:#x} overlaps", segment.address);
    end = segment.end();
    if (std::string wrong = detail::check_segment(state, id, sums[segment.small ? 1 : 0], blocks, active);
        !wrong.empty())
      return wrong;
  }
  if (blocks != state.block_count()) return fmt::format("{} blocks, counted {}", state.block_count(), blocks);
  if (active != state.live_block_count()) return "the table of live blocks has others";

  struct Row {
    std::string_view name;
    PoolStat MemoryStats::*stat;
    int64_t Sums::*sum;
  };
  static constexpr Row kRows[] = {
      {"allocation", &MemoryStats::allocation, &Sums::allocation},
      {"allocated_bytes", &MemoryStats::allocated_bytes, &Sums::allocated_bytes},
      {"active", &MemoryStats::active, &Sums::active},
      {"active_bytes", &MemoryStats::active_bytes, &Sums::active_bytes},
      {"requested_bytes", &MemoryStats::requested_bytes, &Sums::requested_bytes},
      {"segment", &MemoryStats::segment, &Sums::segment},
      {"reserved_bytes", &MemoryStats::reserved_bytes, &Sums::reserved_bytes},
      {"inactive_split", &MemoryStats::inactive_split, &Sums::inactive_split},
      {"inactive_split_bytes", &MemoryStats::inactive_split_bytes, &Sums::inactive_split_bytes},
  };
  for (const Row& row : kRows) {
    const PoolStat& stat = state.stats().*row.stat;
    const int64_t large = sums[0].*row.sum, small = sums[1].*row.sum;
    if (stat.small_pool().current != small || stat.large_pool().current != large)
      return fmt::format("{}: small {} large {}, the blocks say {} and {}", row.name,
                         stat.small_pool().current, stat.large_pool().current, small, large);
    for (const Stat& one : {stat.all(), stat.small_pool(), stat.large_pool()}) {
      if (one.peak < one.current) return fmt::format("{}: the peak is below the current value", row.name);
    }
  }
  return {};
}

}  // namespace gpustrata::alloc
