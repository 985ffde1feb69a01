#include "engine/replay/address_map.h"

#include <algorithm>
#include <cmath>

#include "engine/replay/links.h"

namespace gpustrata::replay {

AddressMap::AddressMap(const StateHistory& history, Budget& budget)
    : history_(&history),
      budget_(&budget),
      axis_(budget),
      regions_(budget),
      shown_(budget),
      place_(budget),
      rank_of_block_(budget),
      live_(budget) {}

Result<AddressMap> AddressMap::build(const model::Recording& recording, const StateHistory& history,
                                     const BlockLives& lives) {
  AddressMap map(history, recording.budget);
  if (!map.axis_.build(recording, history.rows.events, history.rows.clock) || !map.build_regions() ||
      !rank_blocks(recording, history, lives, map.rank_of_block_)) {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the address map of {} blocks",
                history.blocks.count());
  }
  map.sort_by(RegionOrder::address);
  return map;
}

bool AddressMap::build_regions() {
  const SpanHistory& ranges = history_->ranges;
  const auto count = static_cast<size_t>(ranges.count());
  Column<int32_t>& order = live_;  // not in use yet
  if (!order.resize(count, 0)) return false;
  for (size_t i = 0; i < count; ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order.data(), order.data() + count, [&ranges](int32_t a, int32_t b) {
    const uint64_t left = ranges.address[a], right = ranges.address[b];
    return left != right ? left < right : a < b;
  });
  uint64_t end = 0;
  bool expandable = false;
  for (const int32_t row : order.span()) {
    const uint64_t start = ranges.address[row], last = start + static_cast<uint64_t>(ranges.size[row]);
    const bool grows = expandable && history_->expandable[row] != 0 && start == end &&
                       history_->range_stream[row] == history_->range_stream[regions_.back().range];
    if (regions_.empty() || (start >= end && !grows)) {
      if (!regions_.push_back({start, ranges.size[row], row, 1})) return false;
      end = last;
    } else {
      Region& region = regions_.back();
      end = std::max(end, last);
      region.size = static_cast<int64_t>(end - region.address);
      region.range = std::min(region.range, row);
      ++region.ranges;
    }
    expandable = history_->expandable[row] != 0;
  }
  order.clear();
  if (!shown_.resize(regions_.size(), 0) || !place_.resize(regions_.size(), 0)) return false;
  return true;
}

void AddressMap::sort_by(RegionOrder order) {
  for (size_t i = 0; i < regions_.size(); ++i) shown_[i] = static_cast<int32_t>(i);
  const auto stream = [this](int32_t i) { return history_->range_stream[regions_[i].range]; };
  std::sort(shown_.data(), shown_.data() + shown_.size(), [&](int32_t a, int32_t b) {
    const int64_t left = regions_[a].size, right = regions_[b].size;
    if (order == RegionOrder::size && left != right) return left > right;
    if (order == RegionOrder::stream && stream(a) != stream(b)) return stream(a) < stream(b);
    return a < b;
  });
  for (size_t i = 0; i < shown_.size(); ++i) place_[shown_[i]] = static_cast<int32_t>(i);
}

int32_t AddressMap::row_of(uint64_t address) const {
  const auto* above = std::upper_bound(regions_.begin(), regions_.end(), address,
                                       [](uint64_t a, const Region& region) { return a < region.address; });
  if (above == regions_.begin()) return -1;
  const Region& region = *(above - 1);
  if (address - region.address >= static_cast<uint64_t>(region.size)) return -1;
  return place_[above - 1 - regions_.begin()];
}

struct AddressMap::Picture {
  ColumnGrid columns;
  int32_t first, count, height;
  std::span<int32_t> pixels;
};

int64_t AddressMap::column_of(const ColumnGrid& columns, int32_t event) const {
  constexpr int64_t kFarRight = int64_t{1} << 40;  // beyond any picture
  const int64_t position = event < 0                      ? 0
                           : event >= axis_.event_count() ? axis_.extent(columns.axis)
                                                          : axis_.position(columns.axis, event);
  int64_t there = 0;
  if (__builtin_sub_overflow(position / columns.width, columns.first, &there))
    there = columns.first < 0 ? kFarRight : -kFarRight;
  return std::clamp(there, -kFarRight, kFarRight);
}

template <typename Each>
bool AddressMap::for_each_in(const ColumnGrid& columns, const SpanHistory& spans, Each&& each) const {
  const EventRange window = axis_.range(columns.axis, columns.first, columns.count, columns.width);
  if (!window.inside) return true;
  const int32_t before = columns.first <= 0 ? -1 : window.begin - 1;
  const int32_t after = std::max(before, window.end - 1);
  if (!spans.live_after(before, live_)) return false;
  for (const int32_t row : live_.span()) each(row);
  const SpanHistory::Rows born = spans.beginning_in(before, after);
  for (int32_t row = born.first; row < born.last; ++row) each(row);
  return true;
}

void AddressMap::paint(const Picture& picture, const SpanHistory& spans, int32_t row, int32_t value) const {
  const int32_t place = row_of(spans.address[row]) - picture.first;
  if (place < 0 || place >= picture.count) return;
  const Region& shown = region(place + picture.first);
  const int32_t usable = picture.height > 2 ? picture.height - 1 : picture.height;
  const double scale = usable / static_cast<double>(shown.size);
  const auto offset = static_cast<double>(spans.address[row] - shown.address);
  // A block can reach beyond its region in a hostile file, so numbers are limited before they become
  // integers.
  const auto line_of = [&](double bytes) {
    return static_cast<int32_t>(std::clamp(std::floor(bytes * scale + 0.5), 0.0, double{1 << 20}));
  };
  const int32_t low = std::min(line_of(offset), usable - 1);
  const int32_t high = std::clamp(line_of(offset + static_cast<double>(spans.size[row])), low + 1, usable);
  const int64_t begin = column_of(picture.columns, spans.begin[row]);
  const int64_t from = std::max<int64_t>(begin, 0);
  int64_t until = column_of(picture.columns, spans.end[row]);
  if (spans.end[row] >= axis_.event_count()) ++until;  // to the right edge of the last column
  until = std::min<int64_t>(std::max(until, begin + 1), picture.columns.count);
  if (from >= until) return;
  for (int32_t y = low; y < high; ++y) {
    const auto line = static_cast<size_t>(place) * static_cast<size_t>(picture.height) +
                      static_cast<size_t>(usable - 1 - y);
    int32_t* start = picture.pixels.data() + line * static_cast<size_t>(picture.columns.count);
    std::fill(start + from, start + until, value);
  }
}

void AddressMap::draw(const ColumnGrid& columns, int32_t first, int32_t count, int32_t height,
                      std::span<int32_t> pixels) const {
  std::fill(pixels.begin(), pixels.end(), kNotMapped);
  first = std::clamp(first, 0, region_count());
  count = std::clamp(count, 0, region_count() - first);
  if (columns.count <= 0 || columns.width <= 0 || height <= 0 || count == 0) return;
  const auto lines = static_cast<size_t>(count) * static_cast<size_t>(height);
  if (pixels.size() / static_cast<size_t>(columns.count) < lines) return;
  const Picture picture{columns, first, count, height, pixels};
  for (const bool blocks : {false, true}) {
    const SpanHistory& spans = blocks ? history_->blocks : history_->ranges;
    const bool drawn = for_each_in(columns, spans, [&](int32_t row) {
      const int32_t rank = blocks ? rank_of_block_[row] : 0;
      paint(picture, spans, row, !blocks ? kMappedFree : rank < 0 ? kUnrankedBlock : rank);
    });
    if (!drawn) return;
  }
}

bool AddressMap::free_shares(const ColumnGrid& columns, int32_t first, int32_t count,
                             Column<float>& shares) const {
  first = std::clamp(first, 0, region_count());
  count = std::clamp(count, 0, region_count() - first);
  const auto width = static_cast<size_t>(std::max(columns.count, 0));
  const size_t size = static_cast<size_t>(count) * width;
  shares.clear();
  if (size == 0 || columns.width <= 0) return true;
  // What begins less what ends in each column; then what is there. Hostile sizes have no sum in 64 bits.
  Column<double> mapped(*budget_), used(*budget_);
  if (!mapped.resize(size, 0) || !used.resize(size, 0) || !shares.resize(size, 0)) return false;
  for (const bool blocks : {false, true}) {
    const SpanHistory& spans = blocks ? history_->blocks : history_->ranges;
    Column<double>& bytes = blocks ? used : mapped;
    const bool counted = for_each_in(columns, spans, [&](int32_t row) {
      const int32_t place = row_of(spans.address[row]) - first;
      if (place < 0 || place >= count) return;
      const int64_t from = std::max<int64_t>(column_of(columns, spans.begin[row]), 0);
      const int64_t until = spans.end[row] >= axis_.event_count()
                                ? columns.count
                                : std::max(column_of(columns, spans.end[row]), from);
      const size_t start = static_cast<size_t>(place) * width;
      if (from >= columns.count) return;
      bytes[start + static_cast<size_t>(from)] += static_cast<double>(spans.size[row]);
      if (until < columns.count)
        bytes[start + static_cast<size_t>(until)] -= static_cast<double>(spans.size[row]);
    });
    if (!counted) return false;
  }
  double there = 0, in_use = 0;
  for (size_t i = 0; i < size; ++i) {
    if (i % width == 0) there = in_use = 0;
    there += mapped[i];
    in_use += used[i];
    if (there >= 1) shares[i] = static_cast<float>(std::clamp(1 - in_use / there, 0.0, 1.0));
  }
  return true;
}

}  // namespace gpustrata::replay
