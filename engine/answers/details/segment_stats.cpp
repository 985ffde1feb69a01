#include "engine/answers/details/segment_stats.h"

#include <fmt/core.h>

#include "engine/analysis/device/block_name.h"
#include "engine/answers/common/parts.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::BlockUses;
using analysis::EventContext;
using analysis::SegmentStats;

namespace {

void uses_to_json(JsonWriter& json, const BlockUses& uses) {
  json.member("allocated", uses.allocated);
  json.member("pending", uses.pending);
  json.member("requested", uses.requested);
  json.member("rounding", uses.rounding);
  json.member("free", uses.free);
}

}  // namespace

void to_json(JsonWriter& json, const EventContext& context, const replay::MemoryAt& memory,
             const analysis::MemoryStats& stats) {
  json.begin_object();
  json.member("device", context.history.rows.device);
  json.member("event", memory.event());
  json.member("reserved", memory.totals().reserved);
  uses_to_json(json, stats.sum);
  json.member("free_blocks", memory.totals().free_blocks);
  json.member("largest_free", memory.totals().largest_free);
  json.key("segments");
  json.begin_array();
  for (const SegmentStats& one : stats.segments) {
    const auto row = static_cast<size_t>(one.segment.row);
    json.begin_object();
    json.member("address", fmt::format("{:#x}", one.segment.address));
    json.member("name", analysis::segment_name(one.segment.address, context.history.range_version[row]));
    json.member("size", one.segment.size);
    uses_to_json(json, one.uses);
    json.member("stream", context.stream_number(context.history.range_stream[row]));
    json.key("pool");
    pool_to_json(json, context.recording, context.history.range_pool[row]);
    json.member("bar", one.bar);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void to_text(TextOut& out, const EventContext& context, const replay::MemoryAt& memory,
             const analysis::MemoryStats& stats) {
  out.print("Device {}, {}\n", context.history.rows.device,
            memory.event() < 0 ? std::string("before the first event")
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
