#include "engine/answers/details/timeline_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "engine/analysis/device/stream_numbers.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/details/block_details.h"
#include "engine/answers/details/memory_after.h"
#include "engine/answers/stacks/who.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::BandDetails;
using analysis::BandKind;
using analysis::BandLabel;
using analysis::EnvelopeDetails;
using analysis::SegmentBand;
using analysis::Share;
using analysis::ViewInfo;

namespace {

constexpr size_t kLongestName = 400;  // bytes, in a label

constexpr std::string_view kEnvelope[] = {"envelope"}, kSegment[] = {"segment"};

}  // namespace

void describe(Members& m, const ViewInfo& info) {
  m.is({"ViewInfo", "One device of one snapshot, its bands being blocks, pools or segments."});
  m.word("bands", info.bands);
  m.count("device", info.device);
  m.count("events", info.events);
  m.flag({"has_history", "Events besides those that mark a snapshot."}, info.has_history);
  m.count("blocks", info.blocks);
  m.count("from_start", info.from_start);
  if (const auto there = m.when(info.bands == BandKind::pools))
    m.count({"pools", "Envelopes, which have the ranks from `blocks` on; only of `pools`."}, info.pools);
  m.object("peak", [&] {
    m.bytes("bytes", info.peak_bytes);
    m.count("event", info.peak_event);
  });
  m.bytes("initial_bytes", info.initial_bytes);
  m.bytes("final_bytes", info.final_bytes);
  m.bytes("reserved_peak", info.reserved_peak);
  m.bytes("reserved_final", info.reserved_final);
  m.object("extent", [&] {
    m.axis("event", info.extent_events);
    m.axis("time_us", info.extent_us);
  });
  m.microseconds("first_time_us", info.first_time_us);
  m.microseconds("last_time_us", info.last_time_us);
  m.values(As::count, "oom_events", info.oom_events, [](int32_t event) { return event; });
  m.bytes(
      {"capacity",
       "What the device had for this process: reserved and free together at the last out of memory; null = not known."},
      info.capacity);
  m.flag("has_stacks", info.has_stacks);
  m.count("segments", info.segments);
  m.flag({"is_processor", "A profiler's trace of the processor's memory, which it calls device 0."},
         info.is_processor);
  m.flag({"has_ops", "A profiler's trace."}, info.has_ops);
  m.flag({"has_series", "The file tells of numbers over time besides."}, info.has_series);
  m.written(As::any, {"settings", "allocator_settings of the snapshot as in the file."},
            [&](JsonWriter& json) { json.raw(info.settings_json.empty() ? "null" : info.settings_json); });
}

void describe(Members& m, const analysis::BandPick& pick) {
  m.is({"Pick", "What lies under a point of the picture."});
  m.count("event", pick.event);
  m.microseconds("time_us", pick.time_us);
  m.bytes("level", pick.level);
  m.bytes("allocated", pick.allocated);
  m.bytes("reserved", pick.reserved);
  m.rank({"rank", "-1 = no block at that height."}, pick.rank);
  if (const auto there = m.when(pick.rank >= 0)) {
    m.text("name", pick.name);
    m.bytes("size", pick.size);
    if (const auto of_envelope = m.when(pick.active.has_value()))
      m.bytes({"active", "Of an envelope: bytes in its blocks."}, pick.active.value_or(0));
  }
}

void describe(Members& m, const Share& share) {
  m.is("Share");
  m.bytes("bytes", share.bytes);
  m.count("blocks", share.blocks);
}

namespace {

template <typename Place>
void describe_rectangle(Members& m, const Place& place) {
  m.axis("x0", place.x0);
  m.axis("x1", place.x1);
  m.number("y0", place.y0);
  m.number("y1", place.y1);
}

// "train.py:96"
[[nodiscard]] std::string place_text(const model::Recording& recording, const analysis::Who& who) {
  std::string_view file = recorded_file(recording, who);
  file.remove_prefix(std::min(file.find_last_of("/\\") + 1, file.size()));
  if (file.empty()) return {};
  return fmt::format("{}:{}", utf8::cut(file, kLongestName), line_of(recording, who));
}

}  // namespace

void describe(Members& m, const SegmentBand& band) {
  m.is({"SegmentDetails",
        "Device memory as a band: a segment, or a piece of one that was mapped as a whole."});
  m.word("kind", kSegment, kSegment[0]);
  m.rank("rank", band.rank);
  m.bytes({"piece", "Of this band: less than the segment where that was mapped piece by piece."}, band.piece);
  m.segment_row("row", band.segment.segment.row);
  describe_members(m, band.context, band.segment);
}

void describe(Members& m, const model::Recording& recording, const EnvelopeDetails& envelope) {
  m.is({"EnvelopeDetails", "A private pool as a band: what it keeps, whether blocks use it or not."});
  m.word("kind", kEnvelope, kEnvelope[0]);
  m.rank("rank", envelope.rank);
  m.text("name", envelope.name);
  describe_pool(m, recording, envelope.pool);
  m.count("stream", envelope.stream_number);
  m.text("stream_handle", [&] { return analysis::handle_text(recording, envelope.stream); });
  m.bytes({"capacity", "Height at the end; it never shrinks."}, envelope.capacity);
  m.bytes("reserved_final", envelope.reserved_final);
  m.bytes("active_final", envelope.active_final);
  m.bytes("peak_active", envelope.peak_active);
  m.count({"blocks", "That were ever in it."}, envelope.blocks);
  m.count({"born_event", "-1 = before the first."}, envelope.born_event);
  m.text("text", [&] { return fmt::format("{}: capacity {}", envelope.name, size_text(envelope.capacity)); });
}

namespace {

void describe_band(Members& m, const model::Recording& recording, const BandDetails& details) {
  m.one_of("details", details, [&](const auto& band) {
    if constexpr (std::is_same_v<const SegmentBand&, decltype(band)>) {
      describe(m, band);
    } else {
      describe(m, recording, band);
    }
  });
}

}  // namespace

void to_json(JsonWriter& json, std::span<const int64_t> numbers) {
  json.begin_array();
  for (const int64_t number : numbers) json.value(number);
  json.end_array();
}

void describe(Members& m, const OpenedView& view) {
  m.is("OpenedView");
  m.count("id", view.id);
  m.object("info", [&] { describe(m, m.of(view.info)); });
  m.list({"diagnostics", "Of the file and of showing this device."}, view.findings);
}

void describe(Members& m, const model::Recording& recording, const BandLabel& label) {
  m.is(
      {"BandLabel",
       "A rectangle that the band of a block covers, with room for words; by group also what other bands of a kind cover."});
  m.rank({"rank", "-1 = of a kind."}, label.rank);
  if (const auto there = m.when(label.rank < 0))
    m.count({"kind", "Of `kinds`; their number = what pools keep unused."}, label.kind);
  m.bytes({"size", "Of a kind 0."}, label.size);
  if (const auto there = m.when(!label.name.empty())) m.text({"name", "Of an envelope."}, label.name);
  m.text(
      {"function", "The innermost function of the program's own that asked for it; empty = none is known."},
      [&] { return utf8::cut(function_text(label.who), kLongestName); });
  m.text({"place", "File and line of it, `train.py:96`."}, [&] { return place_text(recording, label.who); });
  describe_rectangle(m, label);
}

void describe(Members& m, const Probe& probe) {
  m.is("ProbeAnswer");
  m.object({"pick", "Null: outside of the recording."}, m.of(probe.pick),
           [&](const analysis::BandPick& pick) { describe(m, pick); });
  if (const auto there = m.when([&] { return probe.details.has_value(); }))
    describe_band(m, probe.recording, m.is_schema() ? Members::sample<BandDetails>() : *probe.details);
  if (const auto there = m.when([&] { return probe.group.has_value(); })) {
    m.object({"group", "Of the stack by group: the kind there, in the state that the column shows."}, [&] {
      const analysis::GroupPick& group =
          m.is_schema() ? Members::sample<analysis::GroupPick>() : *probe.group;
      m.is("GroupAt");
      m.count({"kind", "Of `kinds`; their number = what pools keep unused."}, group.kind);
      m.bytes("bytes", group.share.bytes);
      m.count("blocks", group.share.blocks);
      if (const auto matched = m.when(group.matched.has_value()))
        m.object({"matched", "What the filter means of it."},
                 [&] { describe(m, group.matched.value_or(Share())); });
    });
  }
}

void describe(Members& m, const PaintedPicture& picture) {
  const replay::Curves& curves = m.of(picture.curves);
  m.is("PictureAnswer");
  m.painted({"pixels", "RGBA, rows from the top."});
  m.of_columns("curves", [&] {
    m.is({"Curves", "A value for each column; NaN outside of the recording."});
    m.column(As::count, {"event", "-1 = before the first event, -2 = outside of the recording."},
             curves.event);
    m.column(As::bytes, "highest", curves.highest);
    m.column(As::bytes, "lowest", curves.lowest);
    m.column(As::bytes, {"allocated", "Requested bytes in use at that event."}, curves.allocated);
    m.column(As::bytes, {"reserved", "The highest in the column."}, curves.reserved);
  });
}

void describe(Members& m, const BandEdges& edges) {
  m.is({"Edges", "Of a band, a value for each column; NaN outside of its life."});
  m.column(As::bytes, "lower", edges.lower);
  m.column(As::bytes, "upper", edges.upper);
}

void describe(Members& m, const Levels& levels) {
  m.is({"Levels", "Of each that was asked for."});
  m.of_columns("levels", levels.count, [&](size_t i) {
    const auto values = m.found([&] { return levels.values_of(i); });
    m.is({"LevelValues", "A value for each column; NaN where there is none, or it is not known."});
    m.column(As::number, "highest", values.highest);
    m.column(As::number, "lowest", values.lowest);
  });
}

void describe(Members& m, const PlacedBand& band) {
  m.is("BlockAnswer");
  describe_band(m, band.recording, m.of(band.details));
  m.object("place", [&] { describe(m, m.of(band.place)); });
}

void describe(Members& m, const analysis::PlaceOfBand& place) {
  m.is("BlockPlace");
  m.axis("from", place.from);
  m.axis("to", place.to);
  m.bytes({"offset", "Bytes below the block at its birth."}, place.offset);
  m.bytes("size", place.size);
}

void describe(Members& m, const FilterMatches& filter) {
  const analysis::Matches* const matches = filter.matches;
  m.is("FilterAnswer");
  m.count("count", matches == nullptr ? size_t{0} : matches->ranks.size());
  m.bytes({"bytes", "Of all blocks that are meant, whenever they lived."},
          matches == nullptr ? 0 : matches->bytes);
  m.bytes({"at_peak", "Of those in use at the peak."}, filter.at_peak);
  m.rank("first", matches == nullptr || matches->ranks.empty() ? -1 : matches->ranks[0]);
}

void describe(Members& m, const analysis::Shares& shares) {
  m.is({"Shares", "In use after an event."});
  m.count("event", shares.event);
  m.bytes("level", shares.level);
  m.list("kinds", shares.kinds);
  if (const auto there = m.when(shares.unused.has_value()))
    m.bytes({"unused", "Bytes of envelopes that no block uses; only of `pools`."}, shares.unused.value_or(0));
  m.object({"matched", "Of the filter; null = there is none."}, shares.matched,
           [&](const Share& of) { describe(m, of); });
}

}  // namespace gpustrata::answers
