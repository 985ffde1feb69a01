#include "engine/answers/details/state_info.h"

#include <fmt/core.h>

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

void describe(Members& m, const StateLayout& layout) {
  m.is("StateLayoutHead");
  m.columns("rects");
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
