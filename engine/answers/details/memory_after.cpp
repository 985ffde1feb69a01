#include "engine/answers/details/memory_after.h"

#include <fmt/core.h>

#include "engine/analysis/device/block_name.h"
#include "engine/analysis/device/pool_id.h"
#include "engine/analysis/device/stream_numbers.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::EventContext;
using analysis::StateBlock;
using analysis::StateSegment;
using replay::BlockAt;
using replay::SegmentAt;
using replay::StateKind;

namespace {

[[nodiscard]] std::string place_text(const EventContext& context, const SegmentAt& segment) {
  const auto range = static_cast<size_t>(segment.row);
  std::string text = fmt::format("stream {}", context.stream_number(context.history.range_stream[range]));
  const PoolId pool = context.history.range_pool[range];
  if (!pool.is_none() && context.recording.pools[pool.index()] != model::Pool{})
    text += fmt::format("\nprivate pool ({})", analysis::pool_text(context.recording.pools[pool.index()]));
  return text;
}

[[nodiscard]] std::string name_of(const EventContext& context, const BlockAt& block) {
  return analysis::block_name(block.address, context.history.block_version[static_cast<size_t>(block.row)]);
}

[[nodiscard]] std::string name_of(const EventContext& context, const SegmentAt& segment) {
  return analysis::segment_name(segment.address,
                                context.history.range_version[static_cast<size_t>(segment.row)]);
}

[[nodiscard]] std::string segment_text(const EventContext& context, const replay::MemoryAt& memory,
                                       const SegmentAt& segment) {
  const analysis::SegmentSums sums = analysis::sums_of(memory, segment);
  return fmt::format("Segment {}, {}\nfree {}, lost to rounding {}\n{}", name_of(context, segment),
                     exact_size_text(segment.size), exact_size_text(sums.free),
                     exact_size_text(sums.rounding), place_text(context, segment));
}

[[nodiscard]] std::string part_text(const EventContext& context, const SegmentAt& segment,
                                    const BlockAt& block, StateKind part) {
  const std::string place = place_text(context, segment);
  if (part == StateKind::gap)
    return fmt::format("Free, {}\nin segment {}\n{}", exact_size_text(block.size), name_of(context, segment),
                       place);
  if (part == StateKind::rounding)
    return fmt::format("Lost to rounding: {}\nof block {}\n{}",
                       exact_size_text(block.size - block.requested_size), name_of(context, block), place);
  return fmt::format(
      "Block {}, {} requested\n{}{}", name_of(context, block), exact_size_text(block.requested_size),
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

void block_to_json(JsonWriter& json, const BlockAt& block) {
  json.begin_object();
  json.member("address", fmt::format("{:#x}", block.address));
  json.member("size", block.size);
  json.member("requested_size", block.requested_size);
  json.member("state", answers::name_of(block.state));
  json.end_object();
}

[[nodiscard]] std::string pool_words(const model::Recording& recording, PoolId pool) {
  if (pool.is_none()) return "pool unknown";
  const model::Pool& key = recording.pools[pool.index()];
  if (key == model::Pool{}) return "default pool";
  return fmt::format("private pool ({})", analysis::pool_text(key));
}

}  // namespace

void to_json(JsonWriter& json, const analysis::MemoryTotals& totals) {
  json.begin_object();
  json.member("event", totals.event);
  json.member("time_us", totals.time_us);
  json.member("reserved", totals.sums.reserved);
  json.member("allocated", totals.sums.allocated);
  json.member("active", totals.sums.active);
  json.member("requested", totals.sums.requested);
  json.member("rounding", totals.rounding);
  json.member("free", totals.free);
  json.member("largest_free", totals.sums.largest_free);
  json.member("free_blocks", totals.sums.free_blocks);
  json.member("live_blocks", totals.sums.live_blocks);
  json.member("pending_blocks", totals.pending_blocks);
  json.member("segments", totals.segments);
  json.member("blocks_without_segment", totals.blocks_without_segment);
  json.member("fragmentation", totals.fragmentation);
  json.member("text",
              totals.fragmentation
                  ? fmt::format("{} free in {} blocks, the largest {}: {:.1f} % of the free memory is "
                                "not in the largest block.",
                                size_text(totals.free), count_text(totals.sums.free_blocks),
                                size_text(totals.sums.largest_free), *totals.fragmentation * 100)
                  : std::string("No memory inside the segments is free."));
  json.end_object();
}

void to_json(JsonWriter& json, const EventContext& context, const replay::MemoryAt& memory,
             const replay::StateLayout::Hit& hit) {
  if (hit.segment < 0) {
    json.null();
    return;
  }
  const SegmentAt& segment = memory.segments()[static_cast<size_t>(hit.segment)];
  const BlockAt* block = hit.block < 0 ? nullptr : &memory.blocks()[static_cast<size_t>(hit.block)];
  json.begin_object();
  json.member("segment", segment.row);
  json.member("block", block == nullptr ? -1 : block->row);
  json.member("part", name_of(hit.part));
  json.member("text", block == nullptr || hit.part == StateKind::gap
                          ? (block == nullptr ? "" : part_text(context, segment, *block, hit.part) + "\n\n") +
                                segment_text(context, memory, segment)
                          : part_text(context, segment, *block, hit.part));
  json.end_object();
}

void to_json(JsonWriter& json, const EventContext& context, const StateBlock& block) {
  const model::Recording& recording = context.recording;
  json.begin_object();
  json.member("row", block.row);
  json.member("name", analysis::block_name(block.address, block.version));
  json.member("address", fmt::format("{:#x}", block.address));
  json.member("size", block.size);
  json.member("requested_size", block.requested_size);
  json.member("rounding", block.size - block.requested_size);
  json.key("state");
  if (block.state) {
    json.value(answers::name_of(*block.state));
  } else {
    json.null();
  }
  json.member("begin", block.begin);
  json.member("end", block.end);
  json.member("alloc_event", block.events.alloc);
  json.member("free_requested_event", block.events.free_requested);
  json.member("free_completed_event", block.events.free_completed);
  json.member("rank", block.rank);
  json.member("segment", block.segment);
  json.member("stream", context.stream_number(block.stream));
  json.member("stream_handle", analysis::handle_text(recording, block.stream));
  json.key("pool");
  pool_to_json(json, recording, block.pool);
  text_to_json(json, "compile_context", recording, block.compile_context);
  text_to_json(json, "user_metadata", recording, block.user_metadata);
  json.key("annotations");
  const int64_t annotations_left_out = annotations_to_json(json, recording, block.annotations);
  json.key("frames");
  const int64_t frames_left_out = frames_to_json(json, recording, block.stack);
  json.key("stack_of");
  stack_from_to_json(json, block.stack_from);
  who_to_json(json, recording, block.who);
  json.member("in_dump", block.in_dump);
  json.member("annotations_left_out", annotations_left_out);
  json.member("frames_left_out", frames_left_out);
  json.end_object();
}

void members_to_json(JsonWriter& json, const EventContext& context, const StateSegment& segment) {
  const model::Recording& recording = context.recording;
  const auto action = [&](std::string_view name, const std::optional<trace::Action>& one) {
    json.member(name, one ? std::optional(in_list(recording.action_name(*one))) : std::nullopt);
  };
  json.member("row", segment.segment.row);
  json.member("name", analysis::segment_name(segment.segment.address, segment.version));
  json.member("address", fmt::format("{:#x}", segment.segment.address));
  json.member("size", segment.segment.size);
  json.member("free", segment.sums.free);
  json.member("rounding", segment.sums.rounding);
  json.member("allocated", segment.sums.allocated);
  json.member("active", segment.sums.active);
  json.member("requested", segment.sums.requested);
  json.member("blocks", segment.sums.blocks);
  json.member("free_blocks", segment.sums.free_blocks);
  json.member("expandable", segment.expandable);
  json.member("stream", context.stream_number(segment.stream));
  json.member("stream_handle", analysis::handle_text(recording, segment.stream));
  json.key("pool");
  pool_to_json(json, recording, segment.pool);
  json.member("begin", segment.begin);
  json.member("end", segment.end);
  action("begin_action", segment.begin_action);
  action("end_action", segment.end_action);
  json.key("frames");
  const int64_t frames_left_out = frames_to_json(json, recording, segment.stack);
  who_to_json(json, recording, segment.who);
  json.member("in_dump", segment.in_dump);
  json.member("frames_left_out", frames_left_out);
}

void to_json(JsonWriter& json, const EventContext& context, const std::optional<StateSegment>& segment) {
  if (!segment) return json.null();
  json.begin_object();
  members_to_json(json, context, *segment);
  json.end_object();
}

void to_json(JsonWriter& json, const model::Recording& recording, const replay::StateHistory& history,
             const replay::MemoryAt& memory) {
  const replay::TotalsAt& totals = memory.totals();
  json.begin_object();
  json.member("device", history.rows.device);
  json.member("event", memory.event());
  json.member("reserved_bytes", totals.reserved);
  json.member("allocated_bytes", totals.allocated);
  json.member("active_bytes", totals.active);
  json.key("segments");
  json.begin_array();
  for (const SegmentAt& segment : memory.segments()) {
    const StreamId stream = history.range_stream[static_cast<size_t>(segment.row)];
    json.begin_object();
    json.member("address", fmt::format("{:#x}", segment.address));
    json.member("total_size", segment.size);
    json.member("stream", stream.is_none() ? std::nullopt : std::optional(recording.streams[stream.index()]));
    json.key("pool");
    pool_to_json(json, recording, history.range_pool[static_cast<size_t>(segment.row)]);
    json.key("blocks");
    json.begin_array();
    for (const BlockAt& block : memory.blocks_of(segment)) block_to_json(json, block);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  if (!memory.outside().empty()) {
    json.key("blocks_without_segment");
    json.begin_array();
    for (const BlockAt& block : memory.outside()) block_to_json(json, block);
    json.end_array();
  }
  json.end_object();
}

void to_text(TextOut& out, const model::Recording& recording, const replay::StateHistory& history,
             const replay::MemoryAt& memory) {
  const replay::TotalsAt& totals = memory.totals();
  if (memory.event() < 0) {
    out.print("Device {} before event 0\n", history.rows.device);
  } else {
    out.print("Device {} after event {} (the last is {})\n", history.rows.device, count_text(memory.event()),
              count_text(history.event_count() - 1));
  }
  out.print("  reserved   {}\n  allocated  {}\n  active     {}\n  requested  {}\n",
            exact_size_text(totals.reserved), exact_size_text(totals.allocated),
            exact_size_text(totals.active), exact_size_text(totals.requested));
  out.print("  free       {} in {} blocks, the largest {}\n", exact_size_text(analysis::free_bytes(memory)),
            count_text(totals.free_blocks), exact_size_text(totals.largest_free));
  if (memory.segments().empty() && !memory.outside().empty())
    out.add(
        "  The file names no segments, as traces of profilers do not: reserved and free memory are not known.\n");
  const auto block_line = [&out](const BlockAt& block) {
    out.print("    {:#x}  {:>12}  {}", block.address, size_text(block.size), answers::name_of(block.state));
    if (block.row >= 0) out.print(", {} requested", size_text(block.requested_size));
    out.add("\n");
  };
  for (const SegmentAt& segment : memory.segments()) {
    if (out.failed()) return;
    const auto row = static_cast<size_t>(segment.row);
    const StreamId stream = history.range_stream[row];
    out.print("\n  Segment {:#x}  {}, stream {}, {}\n", segment.address, size_text(segment.size),
              stream.is_none() ? "unknown" : fmt::format("{:#x}", recording.streams[stream.index()]),
              pool_words(recording, history.range_pool[row]));
    for (const BlockAt& block : memory.blocks_of(segment)) block_line(block);
  }
  if (!memory.outside().empty()) out.add("\n  Blocks without a segment\n");
  for (const BlockAt& block : memory.outside()) block_line(block);
}

}  // namespace gpustrata::answers
