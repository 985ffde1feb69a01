// StateView: the address map over time.
#include <fmt/core.h>

#include <algorithm>

#include "engine/analysis/block_name.h"
#include "engine/analysis/stream_numbers.h"
#include "engine/answers/parts.h"
#include "engine/base/json_writer.h"
#include "engine/session/state_view_parts.h"

namespace memstrata::session {

namespace {

constexpr int32_t kMostRegions = 1000;
constexpr size_t kMaxPixels = size_t{8192} * 4320;

}  // namespace

Status StateView::sort_regions(replay::RegionOrder order) {
  Parts& p = *parts_;
  if (!p.map) {
    auto map = replay::AddressMap::build(p.recording, p.history, p.device.lives);
    if (!map) return tl::unexpected(map.error());
    p.map.emplace(std::move(*map));
    p.map_order = replay::RegionOrder::address;
  }
  if (p.map_order != order) {
    p.map->sort_by(order);
    p.map_order = order;
  }
  return {};
}

Result<std::string> StateView::regions_json(replay::RegionOrder order, int32_t first, int32_t count) {
  if (const Status sorted = sort_regions(order); !sorted) return tl::unexpected(sorted.error());
  const Parts& p = *parts_;
  first = std::clamp(first, 0, p.map->region_count());
  count = std::clamp(count, 0, std::min(kMostRegions, p.map->region_count() - first));
  JsonWriter json;
  json.begin_object();
  json.member("count", p.map->region_count());
  json.key("rows");
  json.begin_array();
  for (int32_t row = first; row < first + count; ++row) {
    const replay::Region& region = p.map->region(row);
    const auto range = static_cast<size_t>(region.range);
    json.begin_object();
    json.member("row", row);
    json.member("name", analysis::segment_name(region.address, p.history.range_version[range]));
    json.member("address", fmt::format("{:#x}", region.address));
    json.member("size", region.size);
    json.member("stream", p.index.streams[p.history.range_stream[range]]);
    json.member("stream_handle", analysis::handle_text(p.recording, p.history.range_stream[range]));
    json.key("pool");
    answers::pool_to_json(json, p.recording, p.history.range_pool[range]);
    json.member("expandable", p.history.expandable[range] != 0);
    json.member("pieces", region.ranges);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return std::move(json).text();
}

Result<std::span<const int32_t>> StateView::address_map(replay::RegionOrder order,
                                                        const replay::ColumnGrid& columns, int32_t first,
                                                        int32_t count, int32_t height) {
  if (const Status sorted = sort_regions(order); !sorted) return tl::unexpected(sorted.error());
  Parts& p = *parts_;
  first = std::clamp(first, 0, p.map->region_count());
  count = std::clamp(count, 0, p.map->region_count() - first);
  if (columns.count <= 0 || columns.width <= 0 || height <= 0) return std::span<const int32_t>{};
  const size_t lines = static_cast<size_t>(count) * static_cast<size_t>(height);
  if (lines > kMaxPixels / static_cast<size_t>(columns.count))
    return fail(ErrorCode::limit_exceeded, -1, "a picture of {} lines is too large", lines);
  if (!p.map_pixels.resize(lines * static_cast<size_t>(columns.count), 0)) return p.no_memory();
  p.map->draw(columns, first, count, height, p.map_pixels.span());
  return std::span<const int32_t>(p.map_pixels.span());
}

Result<int32_t> StateView::region_of_block(replay::RegionOrder order, int32_t block) {
  if (const Status exists = check_block(block); !exists) return tl::unexpected(exists.error());
  if (const Status sorted = sort_regions(order); !sorted) return tl::unexpected(sorted.error());
  const Parts& p = *parts_;
  return p.map->row_of(p.history.blocks.address[static_cast<size_t>(block)]);
}

}  // namespace memstrata::session
