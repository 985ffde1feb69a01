#include "engine/analysis/details/memory_after.h"

#include <algorithm>

#include "engine/base/saturating.h"
#include "engine/replay/links.h"

namespace gpustrata::analysis {

using replay::BlockAt;
using replay::SegmentAt;

int64_t free_bytes(const replay::MemoryAt& memory) {
  int64_t free = 0;
  for (const BlockAt& block : memory.blocks()) {
    if (block.row < 0) add_saturated(free, block.size);
  }
  return free;
}

MemoryTotals memory_totals(const EventContext& context, const replay::MemoryAt& memory) {
  MemoryTotals found;
  found.event = memory.event();
  if (found.event >= 0) {
    const int64_t time = context.recording.events.time[context.row(found.event)];
    found.time_us = context.part.clock.microseconds(time);
  }
  found.sums = memory.totals();
  found.rounding = found.sums.active - found.sums.requested;
  found.free = free_bytes(memory);
  for (const BlockAt& block : memory.blocks())
    found.pending_blocks += block.state == model::BlockState::active_pending_free;
  found.segments = static_cast<int64_t>(memory.segments().size());
  found.blocks_without_segment = static_cast<int64_t>(memory.outside().size());
  if (found.free > 0)
    found.fragmentation = 1 - static_cast<double>(found.sums.largest_free) / static_cast<double>(found.free);
  return found;
}

SegmentSums sums_of(const replay::MemoryAt& memory, const SegmentAt& segment) {
  SegmentSums sums;
  for (const BlockAt& block : memory.blocks_of(segment)) {
    if (block.row < 0) {
      add_saturated(sums.free, block.size);
      ++sums.free_blocks;
      continue;
    }
    ++sums.blocks;
    add_saturated(sums.active, block.size);
    add_saturated(sums.requested, std::min(block.requested_size, block.size));
    if (block.state == model::BlockState::active_allocated) add_saturated(sums.allocated, block.size);
  }
  sums.rounding = sums.active - sums.requested;
  return sums;
}

const SegmentAt* segment_around(const replay::MemoryAt& memory, uint64_t address) {
  const auto segments = memory.segments();
  const auto above = std::upper_bound(segments.begin(), segments.end(), address,
                                      [](uint64_t a, const SegmentAt& s) { return a < s.address; });
  if (above == segments.begin()) return nullptr;
  const SegmentAt& segment = *(above - 1);
  return address - segment.address < static_cast<uint64_t>(segment.size) ? &segment : nullptr;
}

StackOf stack_of_block(const EventContext& context, int32_t block) {
  const model::Recording& recording = context.recording;
  const replay::BlockEvents own = events_of_block(recording, context.history, block);
  StackOf found;
  const auto consider = [&](StackId stack, StackFrom from) {
    if (found.from != StackFrom::nothing || stack.is_none() || recording.stacks.leaf(stack) < 0) return;
    found = {stack, from};
  };
  const auto stack_at = [&](int32_t event) { return recording.events.stack[context.row(event)]; };
  const int32_t source = context.history.block_source[block];
  const int32_t freed = std::max(own.free_requested, own.free_completed);
  if (own.alloc >= 0) consider(stack_at(own.alloc), StackFrom::alloc);
  if (source >= 0) consider(recording.blocks.stack[source], StackFrom::block);
  const bool of_the_alloc = context.index.free_stacks == FreeStacks::of_the_alloc;
  if (own.alloc < 0 && freed >= 0 && of_the_alloc) consider(stack_at(freed), StackFrom::free);
  return found;
}

StateBlock state_block(const EventContext& context, const replay::MemoryAt& memory, int32_t block) {
  const replay::StateHistory& history = context.history;
  const model::EventTable& events = context.recording.events;
  StateBlock told;
  told.row = block;
  told.address = history.blocks.address[block];
  told.version = history.block_version[block];
  told.size = history.blocks.size[block];
  told.requested_size = history.requested_size[block];
  told.begin = history.blocks.begin[block];
  if (history.blocks.end[block] < history.event_count()) told.end = history.blocks.end[block];
  told.events = events_of_block(context.recording, history, block);
  told.rank = rank_of_block(context.recording, history, context.lifetimes, block);
  const int32_t alloc = told.events.alloc;
  const int32_t told_by =
      alloc >= 0 ? alloc : std::max(told.events.free_requested, told.events.free_completed);
  if (told_by >= 0) {
    told.stream = events.stream[context.row(told_by)];
    told.pool = events.pool[context.row(told_by)];
  }
  if (history.blocks.exists_after(block, memory.event())) {
    told.state = history.is_pending(block, memory.event()) ? model::BlockState::active_pending_free
                                                           : model::BlockState::active_allocated;
    if (const SegmentAt* around = segment_around(memory, told.address); around != nullptr) {
      told.segment = around->row;
      const auto range = static_cast<size_t>(around->row);
      if (told_by < 0) told.stream = history.range_stream[range];
      if (told.pool.is_none()) told.pool = history.range_pool[range];
    }
  }
  const int32_t source = history.block_source[block];
  told.in_dump = source >= 0;
  if (alloc >= 0) {
    told.compile_context = if_it_says_something(context.recording, events.context[context.row(alloc)]);
    told.user_metadata = events.metadata[context.row(alloc)];
  }
  if (context.recording.strings.view(told.user_metadata).empty() && source >= 0)
    told.user_metadata = context.recording.blocks.metadata[source];
  told.user_metadata = if_it_says_something(context.recording, told.user_metadata);
  told.annotations = annotations_of(context, block);
  const StackOf shown = stack_of_block(context, block);
  told.stack = shown.stack;
  told.stack_from = shown.from;
  told.who = who_of(context.recording, shown.stack);
  const int32_t freed = std::max(told.events.free_requested, told.events.free_completed);
  if (shown.from == StackFrom::nothing && alloc < 0 && freed >= 0) {  // shown as that of who freed it
    const StackId of_free = events.stack[context.row(freed)];
    if (!of_free.is_none() && context.recording.stacks.leaf(of_free) >= 0) {
      told.stack = of_free;
      told.stack_from = StackFrom::free;
    }
  }
  return told;
}

std::optional<StateSegment> state_segment(const EventContext& context, const replay::MemoryAt& memory,
                                          int32_t range) {
  const replay::StateHistory& history = context.history;
  if (!history.ranges.exists_after(range, memory.event())) return std::nullopt;
  const SegmentAt* segment = segment_around(memory, history.ranges.address[range]);
  if (segment == nullptr) return std::nullopt;
  const auto action_at = [&](int32_t event) -> std::optional<trace::Action> {
    if (event < 0 || event >= history.event_count()) return std::nullopt;
    return context.recording.events.action[context.row(event)];
  };
  StateSegment told;
  told.segment = *segment;
  told.version = history.range_version[segment->row];
  told.sums = sums_of(memory, *segment);
  told.expandable = history.expandable[range] != 0;
  told.stream = history.range_stream[range];
  told.pool = history.range_pool[range];
  told.begin = history.ranges.begin[range];
  if (history.ranges.end[range] < history.event_count()) told.end = history.ranges.end[range];
  told.begin_action = action_at(history.ranges.begin[range]);
  told.end_action = action_at(history.ranges.end[range]);
  told.stack = stack_of_range(context.recording, history, range);
  told.who = who_of(context.recording, told.stack);
  told.in_dump = history.range_source[range] >= 0;
  return told;
}

}  // namespace gpustrata::analysis
