#include "engine/answers/details/memory_after.h"

#include <fmt/core.h>

#include "engine/analysis/device/block_name.h"
#include "engine/analysis/device/event_context.h"
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
  return analysis::block_name(block.address, context.history.block_version[block.row]);
}

[[nodiscard]] std::string name_of(const EventContext& context, const SegmentAt& segment) {
  return analysis::segment_name(segment.address, context.history.range_version[segment.row]);
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

void describe_place(Members& m, const EventContext& context, StreamId stream, PoolId pool) {
  m.count({"stream", "0, 1, 2 by first appearance in the file, as the official viewer has it."},
          [&] { return context.stream_number(stream); });
  m.text("stream_handle", [&] { return analysis::handle_text(context.recording, stream); });
  describe_pool(m, context.recording, pool);
}

void describe_block(Members& m, const BlockAt& block) {
  m.address("address", block.address);
  m.bytes("size", block.size);
  m.bytes("requested_size", block.requested_size);
  m.word("state", block.state);
}

[[nodiscard]] std::string pool_words(const model::Recording& recording, PoolId pool) {
  if (pool.is_none()) return "pool unknown";
  const model::Pool& key = recording.pools[pool.index()];
  if (key == model::Pool{}) return "default pool";
  return fmt::format("private pool ({})", analysis::pool_text(key));
}

}  // namespace

void describe(Members& m, const analysis::MemoryTotals& totals) {
  m.is({"StateTotals", "The memory after an event."});
  m.count("event", totals.event);
  m.microseconds("time_us", totals.time_us);
  m.bytes("reserved", totals.sums.reserved);
  m.bytes("allocated", totals.sums.allocated);
  m.bytes("active", totals.sums.active);
  m.bytes("requested", totals.sums.requested);
  m.bytes("rounding", totals.rounding);
  m.bytes({"free", "Of blocks in segments."}, totals.free);
  m.bytes("largest_free", totals.sums.largest_free);
  m.count("free_blocks", totals.sums.free_blocks);
  m.count("live_blocks", totals.sums.live_blocks);
  m.count("pending_blocks", totals.pending_blocks);
  m.count("segments", totals.segments);
  m.count("blocks_without_segment", totals.blocks_without_segment);
  m.share({"fragmentation", "1 - largest_free / free; null without free memory."}, totals.fragmentation);
  m.text({"text", "What fragmentation means."}, [&] {
    if (!totals.fragmentation) return std::string("No memory inside the segments is free.");
    return fmt::format(
        "{} free in {} blocks, the largest {}: {:.1f} % of the free memory is not in the largest block.",
        size_text(totals.free), count_text(totals.sums.free_blocks), size_text(totals.sums.largest_free),
        *totals.fragmentation * 100);
  });
}

// What lies at a point.
void describe(Members& m, const EventContext& context, const replay::MemoryAt& memory,
              const replay::StateLayout::Hit& hit) {
  const SegmentAt& segment =
      m.is_schema() ? Members::sample<SegmentAt>() : memory.segments()[static_cast<size_t>(hit.segment)];
  const BlockAt* const block =
      m.is_schema() || hit.block < 0 ? nullptr : &memory.blocks()[static_cast<size_t>(hit.block)];
  m.is("StatePick");
  m.segment_row("segment", segment.row);
  m.block_row({"block", "-1 = none."}, block == nullptr ? -1 : block->row);
  m.word("part", hit.part);
  m.text({"text", "As the official viewer says it: what it is, sizes, stream, private pool."}, [&] {
    std::string part = block == nullptr ? std::string() : part_text(context, segment, *block, hit.part);
    if (block != nullptr && hit.part != StateKind::gap) return part;
    return part + (part.empty() ? "" : "\n\n") + segment_text(context, memory, segment);
  });
}

void describe(Members& m, const EventContext& context, const StateBlock& block) {
  const model::Recording& recording = context.recording;
  m.is("StateBlock");
  m.block_row("row", block.row);
  m.text("name", [&] { return analysis::block_name(block.address, block.version); });
  m.address("address", block.address);
  m.bytes("size", block.size);
  m.bytes("requested_size", block.requested_size);
  m.bytes("rounding", block.size - block.requested_size);
  m.word({"state", "Null: it does not exist after the event."}, kLiveStates, block.state);
  m.count("begin", block.begin);
  m.count({"end", "The event after which it is gone; -1 = never."}, block.end);
  m.count({"alloc_event", "-1 = not in the trace, as of the next two."}, block.events.alloc);
  m.count("free_requested_event", block.events.free_requested);
  m.count("free_completed_event", block.events.free_completed);
  m.rank("rank", block.rank);
  m.segment_row({"segment", "After the event; -1 = none."}, block.segment);
  describe_place(m, context, block.stream, block.pool);
  describe_text(m, "compile_context", recording, block.compile_context);
  describe_text(m, "user_metadata", recording, block.user_metadata);
  const int64_t annotations_left_out = describe_annotations(m, recording, block.annotations);
  const int64_t frames_left_out = describe_frames(m, recording, block.stack);
  describe_stack_from(m, block.stack_from);
  m.text("who", [&] { return who_or_none(recording, block.who); });
  m.flag("in_dump", block.in_dump);
  m.count("annotations_left_out", annotations_left_out);
  m.count("frames_left_out", frames_left_out);
}

void describe(Members& m, const EventContext& context, const StateSegment& segment) {
  m.is("StateSegment");
  m.segment_row("row", segment.segment.row);
  describe_members(m, context, segment);
}

void describe_members(Members& m, const EventContext& context, const StateSegment& segment) {
  const model::Recording& recording = context.recording;
  const auto action = [&](Name name, const std::optional<trace::Action>& one) {
    m.text(name, [&] { return one ? std::optional(in_list(recording.action_name(*one))) : std::nullopt; });
  };
  m.text("name", [&] { return analysis::segment_name(segment.segment.address, segment.version); });
  m.address("address", segment.segment.address);
  m.bytes("size", segment.segment.size);
  m.bytes("free", segment.sums.free);
  m.bytes("rounding", segment.sums.rounding);
  m.bytes("allocated", segment.sums.allocated);
  m.bytes("active", segment.sums.active);
  m.bytes("requested", segment.sums.requested);
  m.count("blocks", segment.sums.blocks);
  m.count("free_blocks", segment.sums.free_blocks);
  m.flag("expandable", segment.expandable);
  describe_place(m, context, segment.stream, segment.pool);
  m.count("begin", segment.begin);
  m.count("end", segment.end);
  action("begin_action", segment.begin_action);
  action("end_action", segment.end_action);
  const int64_t frames_left_out = describe_frames(m, recording, segment.stack);
  m.text("who", [&] { return who_or_none(recording, segment.who); });
  m.flag("in_dump", segment.in_dump);
  m.count("frames_left_out", frames_left_out);
}

void describe(Members& m, const model::Recording& recording, const replay::StateHistory& history,
              const replay::MemoryAt& memory) {
  const replay::TotalsAt totals = m.found([&] { return memory.totals(); });
  m.line({"state --json", "All of the memory after an event; segments and blocks ascend by address."});
  describe_damage(m, m.found([&] { return recording.diagnostics.incomplete(); }));
  m.count("device", history.rows.device);
  m.count("event", [&] { return memory.event(); });
  m.bytes("reserved_bytes", totals.reserved);
  m.bytes("allocated_bytes", totals.allocated);
  m.bytes("active_bytes", totals.active);
  m.list(
      "segments", [&] { return std::span(memory.segments()); },
      [&](const SegmentAt& segment) {
        const auto row = static_cast<size_t>(segment.row);
        m.address("address", segment.address);
        m.bytes("total_size", segment.size);
        m.number({"stream", "Its handle; null: the file does not say."}, [&] {
          const StreamId stream = history.range_stream[row];
          return stream.is_none() ? std::nullopt : std::optional(recording.streams[stream.index()]);
        });
        describe_pool(m, recording, m.found([&] { return history.range_pool[row]; }));
        m.list(
            "blocks", [&] { return memory.blocks_of(segment); },
            [&](const BlockAt& block) { describe_block(m, block); });
      });
  const auto outside = m.found([&] { return std::span(memory.outside()); });
  if (const auto there = m.when(!outside.empty()))
    m.list("blocks_without_segment", outside, [&](const BlockAt& block) { describe_block(m, block); });
}

void to_text(TextOut& out, const model::Recording& recording, const replay::StateHistory& history,
             const replay::MemoryAt& memory) {
  const replay::TotalsAt& totals = memory.totals();
  if (memory.event() < 0) {
    out.print("Device {} {}\n", history.rows.device,
              !analysis::has_history(recording, history.rows.events) ? "as saved" : "before the first event");
  } else {
    out.print("Device {} after event {} (the last is {})\n", history.rows.device, count_text(memory.event()),
              count_text(history.event_count() - 1));
  }
  out.print("  reserved   {}\n  allocated  {}\n  active     {}\n  requested  {}, of what is active\n",
            exact_size_text(totals.reserved), exact_size_text(totals.allocated),
            exact_size_text(totals.active), exact_size_text(totals.requested));
  out.print("  free       {} in {} blocks, the largest {}\n", exact_size_text(analysis::free_bytes(memory)),
            count_text(totals.free_blocks), exact_size_text(totals.largest_free));
  if (memory.segments().empty() && !memory.outside().empty())
    out.add(
        "  The file names no segments, as traces of profilers do not: reserved and free memory are not known.\n");
  const auto block_line = [&out](const BlockAt& block) {
    out.print("    {:#x}  {:>12}  {}", block.address, size_text(block.size), word_for(block.state));
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
