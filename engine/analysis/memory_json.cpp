#include "engine/analysis/memory_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "engine/analysis/block_details.h"
#include "engine/analysis/bounded_json.h"
#include "engine/analysis/pool_id.h"
#include "engine/analysis/state_json.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"
#include "engine/replay/links.h"

namespace memstrata::analysis {

namespace {

using replay::BlockAt;
using replay::SegmentAt;
using replay::StateKind;

// Sums over the blocks of one segment.
struct Shares {
  int64_t allocated = 0, active = 0, requested = 0, free = 0, blocks = 0, free_blocks = 0;
};

[[nodiscard]] Shares shares_of(const replay::MemoryAt& memory, const SegmentAt& segment) {
  Shares shares;
  for (const BlockAt& block : memory.blocks_of(segment)) {
    if (block.row < 0) {
      shares.free += block.size;
      ++shares.free_blocks;
      continue;
    }
    ++shares.blocks;
    shares.active += block.size;
    shares.requested += std::min(block.requested_size, block.size);
    if (block.state == model::BlockState::active_allocated) shares.allocated += block.size;
  }
  return shares;
}

[[nodiscard]] std::string place_text(const EventContext& context, const SegmentAt& segment) {
  const auto range = static_cast<size_t>(segment.row);
  std::string text = fmt::format("stream {}", context.streams[context.history.range_stream[range]]);
  const PoolId pool = context.history.range_pool[range];
  if (!pool.is_none() && context.recording.pools[pool.index()] != model::Pool{}) {
    text += fmt::format("\nprivate pool ({})", pool_text(context.recording.pools[pool.index()]));
  }
  return text;
}

[[nodiscard]] std::string name_of_block(const EventContext& context, const BlockAt& block) {
  return block_name(block.address, context.history.block_version[static_cast<size_t>(block.row)]);
}

[[nodiscard]] std::string name_of_segment(const EventContext& context, const SegmentAt& segment) {
  return segment_name(segment.address, context.history.range_version[static_cast<size_t>(segment.row)]);
}

[[nodiscard]] std::string segment_text(const EventContext& context, const replay::MemoryAt& memory,
                                       const SegmentAt& segment) {
  const Shares shares = shares_of(memory, segment);
  const int64_t rounding = shares.active - shares.requested;
  return fmt::format("Segment {}, {}\nfree {}, lost to rounding {}\n{}", name_of_segment(context, segment),
                     exact_size_text(segment.size), exact_size_text(shares.free), exact_size_text(rounding),
                     place_text(context, segment));
}

[[nodiscard]] std::string part_text(const EventContext& context, const SegmentAt& segment,
                                    const BlockAt& block, StateKind part) {
  const std::string place = place_text(context, segment);
  if (part == StateKind::gap)
    return fmt::format("Free, {}\nin segment {}\n{}", exact_size_text(block.size),
                       name_of_segment(context, segment), place);
  if (part == StateKind::rounding)
    return fmt::format("Lost to rounding: {}\nof block {}\n{}",
                       exact_size_text(block.size - block.requested_size), name_of_block(context, block),
                       place);
  return fmt::format(
      "Block {}, {} requested\n{}{}", name_of_block(context, block), exact_size_text(block.requested_size),
      part == StateKind::pending ? "freed, but waiting for another stream (record_stream)\n" : "", place);
}

[[nodiscard]] std::string_view name_of(StateKind part) {
  switch (part) {
    case StateKind::segment:
      return "segment";
    case StateKind::block:
      return "block";
    case StateKind::rounding:
      return "rounding";
    case StateKind::pending:
      return "pending";
    case StateKind::gap:
      return "gap";
  }
  return "segment";
}

[[nodiscard]] size_t event_row(const EventContext& context, int32_t event) {
  return static_cast<size_t>(context.history.rows.events.first + event);
}

[[nodiscard]] const SegmentAt* segment_around(const replay::MemoryAt& memory, uint64_t address) {
  const auto segments = memory.segments();
  const auto above = std::upper_bound(segments.begin(), segments.end(), address,
                                      [](uint64_t a, const SegmentAt& s) { return a < s.address; });
  if (above == segments.begin()) return nullptr;
  const SegmentAt& segment = *(above - 1);
  return address - segment.address < static_cast<uint64_t>(segment.size) ? &segment : nullptr;
}

void write_text(JsonWriter& json, std::string_view name, const EventContext& context, StringId id) {
  const std::string_view text = context.recording.strings.view(id);
  json.key(name);
  if (text.empty() || text == "N/A") {
    json.null();
  } else {
    json.value(utf8::cut(text, kLongestText));
  }
}

[[nodiscard]] bool has_frames(const EventContext& context, StackId stack) {
  return !stack.is_none() && context.recording.stacks.leaf(stack) >= 0;
}

}  // namespace

std::string totals_json(const EventContext& context, const replay::MemoryAt& memory) {
  const replay::TotalsAt& totals = memory.totals();
  int64_t pending = 0, free = 0;
  for (const BlockAt& block : memory.blocks()) {
    if (block.row < 0) free += block.size;
    pending += block.state == model::BlockState::active_pending_free;
  }
  const int32_t event = memory.event();
  std::optional<int64_t> time;
  if (event >= 0 && context.recording.events.time_us[event_row(context, event)] != model::kNoTime)
    time = context.recording.events.time_us[event_row(context, event)];
  std::optional<double> fragmentation;
  if (free > 0) fragmentation = 1 - static_cast<double>(totals.largest_free) / static_cast<double>(free);
  JsonWriter json;
  json.begin_object();
  json.member("event", event);
  json.member("time_us", time);
  json.member("reserved", totals.reserved);
  json.member("allocated", totals.allocated);
  json.member("active", totals.active);
  json.member("requested", totals.requested);
  json.member("rounding", totals.active - totals.requested);
  json.member("free", free);
  json.member("largest_free", totals.largest_free);
  json.member("free_blocks", totals.free_blocks);
  json.member("live_blocks", totals.live_blocks);
  json.member("pending_blocks", pending);
  json.member("segments", memory.segments().size());
  json.member("blocks_without_segment", memory.outside().size());
  json.member("fragmentation", fragmentation);
  json.member("text",
              fragmentation
                  ? fmt::format("{} free in {} blocks, the largest {}: {:.1f} % of the free memory is "
                                "not in the largest block.",
                                size_text(free), count_text(totals.free_blocks),
                                size_text(totals.largest_free), *fragmentation * 100)
                  : std::string("No memory inside the segments is free."));
  json.end_object();
  return std::move(json).text();
}

std::string hit_json(const EventContext& context, const replay::MemoryAt& memory,
                     const replay::StateLayout::Hit& hit) {
  if (hit.segment < 0) return "null";
  const SegmentAt& segment = memory.segments()[static_cast<size_t>(hit.segment)];
  const BlockAt* block = hit.block < 0 ? nullptr : &memory.blocks()[static_cast<size_t>(hit.block)];
  JsonWriter json;
  json.begin_object();
  json.member("segment", segment.row);
  json.member("block", block == nullptr ? -1 : block->row);
  json.member("part", name_of(hit.part));
  json.member("text", block == nullptr || hit.part == StateKind::gap
                          ? (block == nullptr ? "" : part_text(context, segment, *block, hit.part) + "\n\n") +
                                segment_text(context, memory, segment)
                          : part_text(context, segment, *block, hit.part));
  json.end_object();
  return std::move(json).text();
}

std::string state_block_json(const EventContext& context, const replay::MemoryAt& memory, int32_t block) {
  const replay::StateHistory& history = context.history;
  const model::EventTable& events = context.recording.events;
  const model::BlockTable& blocks = context.recording.blocks;
  const auto b = static_cast<size_t>(block);
  const replay::BlockEvents own = events_of_block(context.recording, history, block);
  const int32_t told_by = own.alloc >= 0 ? own.alloc : std::max(own.free_requested, own.free_completed);
  const int32_t source = history.block_source[b];
  const bool exists = history.blocks.exists_after(block, memory.event());
  const SegmentAt* around = exists ? segment_around(memory, history.blocks.address[b]) : nullptr;
  StreamId stream;
  PoolId pool;
  if (told_by >= 0) {
    stream = events.stream[event_row(context, told_by)];
    pool = events.pool[event_row(context, told_by)];
  }
  if (around != nullptr) {
    if (told_by < 0) stream = history.range_stream[static_cast<size_t>(around->row)];
    if (pool.is_none()) pool = history.range_pool[static_cast<size_t>(around->row)];
  }
  JsonWriter json;
  json.begin_object();
  json.member("row", block);
  json.member("name", block_name(history.blocks.address[b], history.block_version[b]));
  json.member("address", fmt::format("{:#x}", history.blocks.address[b]));
  json.member("size", history.blocks.size[b]);
  json.member("requested_size", history.requested_size[b]);
  json.member("rounding", history.blocks.size[b] - history.requested_size[b]);
  json.key("state");
  if (exists) {
    json.value(history.is_pending(block, memory.event()) ? "active_pending_free" : "active_allocated");
  } else {
    json.null();
  }
  json.member("begin", history.blocks.begin[b]);
  json.member("end", history.blocks.end[b] < history.event_count() ? history.blocks.end[b] : -1);
  json.member("alloc_event", own.alloc);
  json.member("free_requested_event", own.free_requested);
  json.member("free_completed_event", own.free_completed);
  json.member("rank", rank_of_block(context.recording, history, context.lifetimes, block));
  json.member("segment", around == nullptr ? -1 : around->row);
  json.member("stream", context.streams[stream]);
  json.member("stream_handle", handle_text(context.recording, stream));
  json.key("pool");
  write_pool(json, context.recording, pool);
  StringId metadata;
  if (own.alloc >= 0) metadata = events.metadata[event_row(context, own.alloc)];
  if (context.recording.strings.view(metadata).empty() && source >= 0)
    metadata = blocks.metadata[static_cast<size_t>(source)];
  write_text(json, "compile_context", context,
             own.alloc >= 0 ? events.context[event_row(context, own.alloc)] : StringId());
  write_text(json, "user_metadata", context, metadata);
  json.key("annotations");
  const int64_t annotations_left_out = write_annotations(json, context, block);
  // The first that has frames: the alloc, the block of the dump, the free.
  StackId stack;
  std::optional<std::string_view> stack_of;
  const auto consider = [&](StackId one, std::string_view whose) {
    if (stack_of || !has_frames(context, one)) return;
    stack = one;
    stack_of = whose;
  };
  if (own.alloc >= 0) consider(events.stack[event_row(context, own.alloc)], "alloc");
  if (source >= 0) consider(blocks.stack[static_cast<size_t>(source)], "block");
  if (own.alloc < 0 && told_by >= 0) consider(events.stack[event_row(context, told_by)], "free");
  json.key("frames");
  const int64_t frames_left_out = write_frames(json, context.recording, stack);
  json.member("stack_of", stack_of);
  json.member("in_dump", source >= 0);
  json.member("annotations_left_out", annotations_left_out);
  json.member("frames_left_out", frames_left_out);
  json.end_object();
  return std::move(json).text();
}

std::string state_segment_json(const EventContext& context, const replay::MemoryAt& memory, int32_t range) {
  const replay::StateHistory& history = context.history;
  const auto r = static_cast<size_t>(range);
  const SegmentAt* segment = history.ranges.exists_after(range, memory.event())
                                 ? segment_around(memory, history.ranges.address[r])
                                 : nullptr;
  if (segment == nullptr) return "null";
  const Shares shares = shares_of(memory, *segment);
  const auto action_at = [&](int32_t event) -> std::optional<std::string> {
    if (event < 0 || event >= history.event_count()) return std::nullopt;
    return in_list(context.recording.action_name(context.recording.events.action[event_row(context, event)]));
  };
  JsonWriter json;
  json.begin_object();
  json.member("row", segment->row);
  json.member("name", name_of_segment(context, *segment));
  json.member("address", fmt::format("{:#x}", segment->address));
  json.member("size", segment->size);
  json.member("free", shares.free);
  json.member("rounding", shares.active - shares.requested);
  json.member("allocated", shares.allocated);
  json.member("active", shares.active);
  json.member("requested", shares.requested);
  json.member("blocks", shares.blocks);
  json.member("free_blocks", shares.free_blocks);
  json.member("expandable", history.expandable[r] != 0);
  json.member("stream", context.streams[history.range_stream[r]]);
  json.member("stream_handle", handle_text(context.recording, history.range_stream[r]));
  json.key("pool");
  write_pool(json, context.recording, history.range_pool[r]);
  json.member("begin", history.ranges.begin[r]);
  json.member("end", history.ranges.end[r] < history.event_count() ? history.ranges.end[r] : -1);
  json.member("begin_action", action_at(history.ranges.begin[r]));
  json.member("end_action", action_at(history.ranges.end[r]));
  json.key("frames");
  const int64_t frames_left_out =
      write_frames(json, context.recording, stack_of_range(context.recording, history, range));
  json.member("in_dump", history.range_source[r] >= 0);
  json.member("frames_left_out", frames_left_out);
  json.end_object();
  return std::move(json).text();
}

}  // namespace memstrata::analysis
