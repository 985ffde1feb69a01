// StateView: the address map over time.
#include <algorithm>

#include "engine/session/state_view_parts.h"

namespace gpustrata::session {

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

Result<analysis::RegionList> StateView::regions(replay::RegionOrder order, int32_t first, int32_t count) {
  if (const Status sorted = sort_regions(order); !sorted) return tl::unexpected(sorted.error());
  const Parts& p = *parts_;
  analysis::RegionList list;
  list.count = p.map->region_count();
  first = std::clamp(first, 0, list.count);
  count = std::clamp(count, 0, std::min(kMostRegions, list.count - first));
  for (int32_t row = first; row < first + count; ++row) {
    const replay::Region& region = p.map->region(row);
    const auto range = static_cast<size_t>(region.range);
    list.rows.push_back({row, region.address, p.history.range_version[range], region.size,
                         p.history.range_stream[range], p.history.range_pool[range],
                         p.history.expandable[range] != 0, region.ranges});
  }
  return list;
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

Result<std::span<const float>> StateView::free_shares(replay::RegionOrder order,
                                                      const replay::ColumnGrid& columns, int32_t first,
                                                      int32_t count) {
  if (const Status sorted = sort_regions(order); !sorted) return tl::unexpected(sorted.error());
  Parts& p = *parts_;
  if (!p.map->free_shares(columns, first, count, p.free_shares)) return p.no_memory();
  return std::span<const float>(p.free_shares.span());
}

Result<int32_t> StateView::region_of_block(replay::RegionOrder order, int32_t block) {
  if (const Status exists = check_block(block); !exists) return tl::unexpected(exists.error());
  if (const Status sorted = sort_regions(order); !sorted) return tl::unexpected(sorted.error());
  const Parts& p = *parts_;
  return p.map->row_of(p.history.blocks.address[block]);
}

}  // namespace gpustrata::session
