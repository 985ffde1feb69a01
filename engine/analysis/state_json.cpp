#include "engine/analysis/state_json.h"

#include <fmt/core.h>

#include "engine/analysis/pool_id.h"
#include "engine/base/json_writer.h"

namespace memstrata::analysis {

namespace {

void write_block(JsonWriter& json, const replay::BlockAt& block) {
  json.begin_object();
  json.member("address", fmt::format("{:#x}", block.address));
  json.member("size", block.size);
  json.member("requested_size", block.requested_size);
  json.member("state", name_of(block.state));
  json.end_object();
}

}  // namespace

std::string_view name_of(model::BlockState state) {
  switch (state) {
    case model::BlockState::active_allocated:
      return "active_allocated";
    case model::BlockState::active_pending_free:
      return "active_pending_free";
    case model::BlockState::inactive:
      return "inactive";
    case model::BlockState::unknown:
      break;
  }
  return "unknown";
}

std::string state_json(const model::Recording& recording, const replay::StateHistory& history,
                       const replay::MemoryAt& memory) {
  const replay::TotalsAt& totals = memory.totals();
  JsonWriter json;
  json.begin_object();
  json.member("device", history.rows.device);
  json.member("event", memory.event());
  json.member("reserved_bytes", totals.reserved);
  json.member("allocated_bytes", totals.allocated);
  json.member("active_bytes", totals.active);
  json.key("segments");
  json.begin_array();
  for (const replay::SegmentAt& segment : memory.segments()) {
    const StreamId stream = history.range_stream[static_cast<size_t>(segment.row)];
    const PoolId pool = history.range_pool[static_cast<size_t>(segment.row)];
    json.begin_object();
    json.member("address", fmt::format("{:#x}", segment.address));
    json.member("total_size", segment.size);
    json.key("stream");
    if (stream.is_none()) {
      json.null();
    } else {
      json.value(recording.streams[stream.index()]);
    }
    json.key("pool");
    write_pool(json, recording, pool);
    json.key("blocks");
    json.begin_array();
    for (const replay::BlockAt& block : memory.blocks_of(segment)) write_block(json, block);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  if (!memory.outside().empty()) {
    json.key("blocks_without_segment");
    json.begin_array();
    for (const replay::BlockAt& block : memory.outside()) write_block(json, block);
    json.end_array();
  }
  json.end_object();
  return std::move(json).text();
}

}  // namespace memstrata::analysis
