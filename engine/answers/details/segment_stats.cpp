#include "engine/answers/details/segment_stats.h"

#include <fmt/core.h>

#include "engine/analysis/device/block_name.h"
#include "engine/analysis/device/event_context.h"
#include "engine/answers/common/parts.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::BlockUses;
using analysis::EventContext;
using analysis::SegmentStats;

namespace {

void describe_uses(Members& m, const BlockUses& uses) {
  m.bytes("allocated", uses.allocated);
  m.bytes({"pending", "Freed, but waiting for another stream."}, uses.pending);
  m.bytes("requested", uses.requested);
  m.bytes({"rounding", "Allocated less requested."}, uses.rounding);
  m.bytes("free", uses.free);
}

}  // namespace

void describe(Members& m, const EventContext& context, const replay::MemoryAt& memory,
              const analysis::MemoryStats& stats) {
  const replay::TotalsAt totals = m.found([&] { return memory.totals(); });
  m.line({"stats --json", "What the bytes of every segment are used for."});
  describe_damage(m, m.found([&] { return context.recording.diagnostics.incomplete(); }));
  m.count("device", [&] { return context.history.rows.device; });
  m.count("event", [&] { return memory.event(); });
  m.bytes("reserved", totals.reserved);
  describe_uses(m, stats.sum);
  m.count("free_blocks", totals.free_blocks);
  m.bytes("largest_free", totals.largest_free);
  m.list("segments", stats.segments, [&](const SegmentStats& one) {
    const auto row = static_cast<size_t>(one.segment.row);
    m.address("address", one.segment.address);
    m.text("name",
           [&] { return analysis::segment_name(one.segment.address, context.history.range_version[row]); });
    m.bytes("size", one.segment.size);
    describe_uses(m, one.uses);
    m.count("stream", [&] { return context.stream_number(context.history.range_stream[row]); });
    describe_pool(m, context.recording, m.found([&] { return context.history.range_pool[row]; }));
    m.text({"bar", "A character for each page; see `gpustrata stats`."}, one.bar);
  });
}

void to_text(TextOut& out, const EventContext& context, const replay::MemoryAt& memory,
             const analysis::MemoryStats& stats) {
  out.print("Device {}, {}\n", context.history.rows.device,
            !analysis::has_history(context.recording, context.history.rows.events) ? std::string("as saved")
            : memory.event() < 0 ? std::string("before the first event")
                                 : fmt::format("after event {}", count_text(memory.event())));
  for (const SegmentStats& one : stats.segments) {
    if (out.failed()) return;
    const auto row = static_cast<size_t>(one.segment.row);
    const int32_t stream = context.stream_number(context.history.range_stream[row]);
    out.print("[{}] {}, {} free, {} lost to rounding{}{}\n", one.bar, size_text(one.segment.size),
              size_text(one.uses.free), size_text(one.uses.rounding),
              one.uses.pending > 0 ? fmt::format(", {} pending", size_text(one.uses.pending)) : "",
              stream != 0 ? fmt::format(", stream {}", stream) : "");
  }
  const BlockUses& sum = stats.sum;
  out.print(
      "segments: {}\nreserved: {}\nallocated: {}\n  requested: {}\n  lost to rounding: {}\npending: {}\nfree: {} in {} "
      "blocks, the largest {}\n",
      count_text(static_cast<int64_t>(stats.segments.size())), exact_size_text(memory.totals().reserved),
      exact_size_text(sum.allocated), exact_size_text(sum.requested), exact_size_text(sum.rounding),
      exact_size_text(sum.pending), exact_size_text(sum.free), count_text(memory.totals().free_blocks),
      exact_size_text(memory.totals().largest_free));
  if (!memory.outside().empty())
    out.print("blocks without a segment: {}\n", count_text(static_cast<int64_t>(memory.outside().size())));
  if (stats.segments.empty() && !memory.outside().empty())
    out.add(
        "The file names no segments, as traces of profilers do not: reserved and free memory are not known.\n");
  out.add(
      "A character is a page of 20 MiB (2 MiB in segments below 20 MiB, larger in very large ones): a letter = one "
      "block,\n0-9 = several blocks and its filled tenths, * = several that fill it, space = free.\n");
}

}  // namespace gpustrata::answers
