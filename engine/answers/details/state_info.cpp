#include "engine/answers/details/state_info.h"

#include "engine/analysis/device/block_name.h"
#include "engine/analysis/device/stream_numbers.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/details/memory_after.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::StateInfo& info) {
  m.is("StateInfo");
  m.count("events", info.events);
  m.count("blocks", info.blocks);
  m.count("ranges", info.ranges);
  m.count({"peak_event", "-1 = before the first event."}, info.peak_event);
  m.count("oom_events", info.oom_events);
  m.count("snapshot_events", info.snapshot_events);
  m.count("annotate_events", info.annotate_events);
  m.list({"diagnostics", "What finding the states repaired; those of the view are not among them."},
         info.findings);
}

namespace {

void describe_rects(Members& m, const ShownRects& shown) {
  const replay::StateRects& rects = m.of(shown.rects);
  m.of_columns("rects", [&] {
    m.is({"StateRects", "Pixels of the window."});
    m.column(As::number, "x", rects.x);
    m.column(As::number, "y", rects.y);
    m.column(As::number, "width", rects.width);
    m.column(As::number, "height", rects.height);
    m.column(As::count, {"kind", "An index in `stateKinds`."}, rects.kind);
    m.column(As::count, {"row", "Of the segments for kind 0, else of the blocks; -1 = several, or a gap."},
             rects.row);
    m.column(As::rank, {"rank", "Of the block on the timeline; -1 = none."}, shown.ranks);
    m.column(As::share, {"free", "Of a segment: the share of it that is free, 0 to 1; else 0."}, rects.free);
    if (const auto there = m.when(shown.has_look)) {
      m.column(
          As::any,
          {"colour", "RGBA of the block, as the timeline colours it, or the mean of several; 0 = no block."},
          rects.colour);
      m.column(As::count, {"matched", "0 = the look means none of its blocks."}, rects.matched);
    }
  });
}

}  // namespace

void describe(Members& m, const ShownRects& shown) {
  m.is(
      {"StateSketch", "What can be told of a state before the events are undone; `row` says nothing there."});
  describe_rects(m, shown);
}

void describe(Members& m, const ShownMap& map) {
  m.is({"MapPicture", "Rows from the top."});
  m.column(As::rank, {"ranks", "In the timeline of blocks, or `mapPixels`."}, map.ranks);
  if (const auto there = m.when(map.free_shares.has_value()))
    m.column(As::share,
             {"freeShares",
              "With `shades`: the share of each region that is free in each column, region after region."},
             map.free_shares.value_or(std::span<const float>()));
  m.painted({"pixels", "The same as RGBA, as the timeline colours blocks."});
}

void describe(Members& m, const StateLayout& layout) {
  m.is("StateLayout");
  describe_rects(m, layout.shown);
  m.object("totals", [&] { describe(m, m.of(layout.totals)); });
}

void describe(Members& m, const analysis::StatePlace& place) {
  m.is({"StatePlace", "Pixels of the zoomed layout."});
  m.number("x", place.x);
  m.number("y", place.y);
  m.number("width", place.width);
  m.number("height", place.height);
  m.number("block_x", place.block_x);
  m.number("block_width", place.block_width);
}

void describe(Members& m, const analysis::EventContext& context, const analysis::RegionList& regions) {
  m.is("Regions");
  m.count("count", regions.count);
  m.list("rows", regions.rows, [&](const analysis::RegionList::Row& row) {
    m.is({"Region",
          "A run of addresses that segments of one stream had at some time: a row of the address map."});
    m.count("row", row.row);
    m.text("name", [&] { return analysis::segment_name(row.address, row.version); });
    m.address("address", row.address);
    m.bytes("size", row.size);
    m.count("stream", [&] { return context.stream_number(row.stream); });
    m.text("stream_handle", [&] { return analysis::handle_text(context.recording, row.stream); });
    describe_pool(m, context.recording, row.pool);
    m.flag("expandable", row.expandable);
    m.count("pieces", row.pieces);
  });
}

}  // namespace gpustrata::answers
