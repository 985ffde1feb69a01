#include "engine/analysis/findings/fragmentation.h"

#include <tuple>

#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/findings/free_places.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

using replay::BlockAt;
using replay::SegmentAt;

int64_t whole_pages(const BlockAt& block, uint64_t base, int64_t page) {
  const uint64_t size = static_cast<uint64_t>(std::max<int64_t>(page, 1));
  const uint64_t from = block.address - base;
  const uint64_t until = from + static_cast<uint64_t>(block.size);
  if (until < from) return 0;
  const uint64_t first = from / size + (from % size != 0), last = until / size;
  return last > first ? static_cast<int64_t>((last - first) * size) : 0;
}

bool is_small_segment(const EventContext& context, const SegmentAt& segment) {
  const auto row = static_cast<size_t>(segment.row);
  const int32_t source = context.history.range_source[row];
  if (source >= 0) {
    const model::SegmentType type = context.recording.segments.type[source];
    if (type != model::SegmentType::unknown) return type == model::SegmentType::small;
  }
  return segment.size == alloc::kSmallBuffer;
}

Fragmentation find_fragmentation(const EventContext& context, const replay::MemoryAt& memory,
                                 size_t most_pins) {
  Fragmentation found;
  found.event = memory.event();
  const replay::TotalsAt& totals = memory.totals();
  found.reserved = totals.reserved;
  found.allocated = totals.allocated;
  found.pending = saturated_difference(totals.active, totals.allocated);
  found.cached = free_bytes(memory);
  found.largest_free = totals.largest_free;
  std::vector<Pin>& pins = found.pins;
  const auto comes_first = [](const Pin& a, const Pin& b) {
    return std::tuple(-a.held_back_bytes, a.pinned_bytes, a.segment) <
           std::tuple(-b.held_back_bytes, b.pinned_bytes, b.segment);
  };
  for (const SegmentAt& segment : memory.segments()) {
    Pin pin;
    pin.segment = segment.address;
    pin.range = segment.row;
    pin.segment_bytes = segment.size;
    pin.expandable = context.history.expandable[segment.row] != 0;
    const int64_t page = context.history.config.page_size(is_small_segment(context, segment));
    const bool is_in_private_pool =
        is_private(context.recording, context.history.range_pool[static_cast<size_t>(segment.row)]);
    int64_t largest = -1;
    int64_t pages = 0;
    for (const BlockAt& block : memory.blocks_of(segment)) {
      if (block.row < 0) {
        add_saturated(pin.free_bytes, block.size);
        if (pin.expandable) add_saturated(pages, whole_pages(block, segment.address, page));
        continue;
      }
      ++pin.blocks;
      add_saturated(pin.pinned_bytes, block.size);
      if (block.size > largest) pin.largest_block = block.row;
      largest = std::max(largest, block.size);
      if (pin.oldest_block < 0 ||
          context.history.born_of(block.row) < context.history.born_of(pin.oldest_block))
        pin.oldest_block = block.row;
    }
    if (pin.blocks == 0) {
      add_saturated(found.empty_segments, segment.size);
      if (is_in_private_pool) add_saturated(found.private_bytes, segment.size);
      continue;
    }
    add_saturated(found.pages_of_segments, pages);
    if (is_in_private_pool) add_saturated(found.private_bytes, pages);
    pin.held_back_bytes = pin.free_bytes - pages;
    if (pin.held_back_bytes <= 0) continue;
    add_saturated(found.held_back, pin.held_back_bytes);
    ++found.pinned_segments;
    // A heap of the best, the worst of them on top.
    pins.push_back(pin);
    std::push_heap(pins.begin(), pins.end(), comes_first);
    if (pins.size() > most_pins) {
      std::pop_heap(pins.begin(), pins.end(), comes_first);
      pins.pop_back();
    }
  }
  std::sort_heap(pins.begin(), pins.end(), comes_first);
  return found;
}

int32_t fragmentation_event(const model::Recording& recording, const replay::DeviceRows& rows) {
  for (int32_t event = rows.events.count - 1; event >= 0; --event) {
    if (recording.events.action[rows.events.first + event] == trace::Action::oom) return event;
  }
  return rows.events.count - 1;
}

}  // namespace gpustrata::analysis
