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
  const int32_t source = context.history.block_source[static_cast<size_t>(block)];
  const int32_t freed = std::max(own.free_requested, own.free_completed);
  if (own.alloc >= 0) consider(stack_at(own.alloc), StackFrom::alloc);
  if (source >= 0) consider(recording.blocks.stack[static_cast<size_t>(source)], StackFrom::block);
  if (own.alloc < 0 && freed >= 0) consider(stack_at(freed), StackFrom::free);
  return found;
}

StateBlock state_block(const EventContext& context, const replay::MemoryAt& memory, int32_t block) {
  const replay::StateHistory& history = context.history;
  const model::EventTable& events = context.recording.events;
  const auto b = static_cast<size_t>(block);
  StateBlock told;
  told.row = block;
  told.address = history.blocks.address[b];
  told.version = history.block_version[b];
  told.size = history.blocks.size[b];
  told.requested_size = history.requested_size[b];
  told.begin = history.blocks.begin[b];
  if (history.blocks.end[b] < history.event_count()) told.end = history.blocks.end[b];
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
  const int32_t source = history.block_source[b];
  told.in_dump = source >= 0;
  if (alloc >= 0) {
    told.compile_context = if_it_says_something(context.recording, events.context[context.row(alloc)]);
    told.user_metadata = events.metadata[context.row(alloc)];
  }
  if (context.recording.strings.view(told.user_metadata).empty() && source >= 0)
    told.user_metadata = context.recording.blocks.metadata[static_cast<size_t>(source)];
  told.user_metadata = if_it_says_something(context.recording, told.user_metadata);
  told.annotations = annotations_of(context, block);
  const StackOf shown = stack_of_block(context, block);
  told.stack = shown.stack;
  told.stack_from = shown.from;
  told.who = who_of(context.recording, shown.stack);
  return told;
}

std::optional<StateSegment> state_segment(const EventContext& context, const replay::MemoryAt& memory,
                                          int32_t range) {
  const replay::StateHistory& history = context.history;
  const auto r = static_cast<size_t>(range);
  if (!history.ranges.exists_after(range, memory.event())) return std::nullopt;
  const SegmentAt* segment = segment_around(memory, history.ranges.address[r]);
  if (segment == nullptr) return std::nullopt;
  const auto action_at = [&](int32_t event) -> std::optional<trace::Action> {
    if (event < 0 || event >= history.event_count()) return std::nullopt;
    return context.recording.events.action[context.row(event)];
  };
  StateSegment told;
  told.segment = *segment;
  told.version = history.range_version[static_cast<size_t>(segment->row)];
  told.sums = sums_of(memory, *segment);
  told.expandable = history.expandable[r] != 0;
  told.stream = history.range_stream[r];
  told.pool = history.range_pool[r];
  told.begin = history.ranges.begin[r];
  if (history.ranges.end[r] < history.event_count()) told.end = history.ranges.end[r];
  told.begin_action = action_at(history.ranges.begin[r]);
  told.end_action = action_at(history.ranges.end[r]);
  told.stack = stack_of_range(context.recording, history, range);
  told.who = who_of(context.recording, told.stack);
  told.in_dump = history.range_source[r] >= 0;
  return told;
}

}  // namespace gpustrata::analysis
