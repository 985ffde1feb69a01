#include "engine/answers/details/state_info.h"

#include <fmt/core.h>

#include "engine/analysis/device/block_name.h"
#include "engine/analysis/device/stream_numbers.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/details/memory_after.h"

namespace gpustrata::answers {

void to_json(JsonWriter& json, const analysis::StateInfo& info) {
  json.begin_object();
  json.member("events", info.events);
  json.member("blocks", info.blocks);
  json.member("ranges", info.ranges);
  json.member("peak_event", info.peak_event);
  json.member("oom_events", info.oom_events);
  json.member("snapshot_events", info.snapshot_events);
  json.member("annotate_events", info.annotate_events);
  json.key("diagnostics");
  to_json(json, info.findings);
  json.end_object();
}

void layout_to_json(JsonWriter& json, const analysis::MemoryTotals& totals) {
  json.begin_object();
  json.key("rects");
  json.begin_object();
  json.end_object();
  json.key("totals");
  to_json(json, totals);
  json.end_object();
}

void to_json(JsonWriter& json, const std::optional<analysis::StatePlace>& place) {
  if (!place) return json.null();
  json.begin_object();
  json.member("x", place->x);
  json.member("y", place->y);
  json.member("width", place->width);
  json.member("height", place->height);
  json.member("block_x", place->block_x);
  json.member("block_width", place->block_width);
  json.end_object();
}

void to_json(JsonWriter& json, const analysis::EventContext& context, const analysis::RegionList& regions) {
  json.begin_object();
  json.member("count", regions.count);
  json.key("rows");
  json.begin_array();
  for (const analysis::RegionList::Row& row : regions.rows) {
    json.begin_object();
    json.member("row", row.row);
    json.member("name", analysis::segment_name(row.address, row.version));
    json.member("address", fmt::format("{:#x}", row.address));
    json.member("size", row.size);
    json.member("stream", context.stream_number(row.stream));
    json.member("stream_handle", analysis::handle_text(context.recording, row.stream));
    json.key("pool");
    pool_to_json(json, context.recording, row.pool);
    json.member("expandable", row.expandable);
    json.member("pieces", row.pieces);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace gpustrata::answers
