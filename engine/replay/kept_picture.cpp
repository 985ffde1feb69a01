#include "engine/replay/kept_picture.h"

#include <algorithm>
#include <cstring>

namespace memstrata::replay {

std::span<const uint32_t> KeptPicture::draw(const Timeline& timeline, const ColumnGrid& columns,
                                            const RowGrid& rows, const BandColours& colours) {
  columns_drawn_ = 0;
  if (columns.count <= 0 || rows.count <= 0) return {};
  const auto kept = keep(columns, rows);
  drawn_.reset();
  if (!kept) return {};
  const auto height = static_cast<size_t>(rows.count);
  const auto draw_part = [&](int32_t from, int32_t to) {
    if (from >= to) return;
    ColumnGrid part = columns;
    part.first += from;
    part.count = to - from;
    const size_t pixels = static_cast<size_t>(part.count) * height;
    timeline.draw(part, rows, pixels_.span().subspan(static_cast<size_t>(from) * height, pixels), &colours);
    columns_drawn_ += part.count;
  };
  draw_part(0, kept->from);
  draw_part(kept->to, columns.count);
  drawn_ = {columns, rows};
  return pixels_.span();
}

std::optional<KeptPicture::Range> KeptPicture::keep(const ColumnGrid& columns, const RowGrid& rows) {
  const auto height = static_cast<size_t>(rows.count);
  const size_t size = static_cast<size_t>(columns.count) * height;
  Range range;
  size_t source = 0;
  if (drawn_ && drawn_->columns.axis == columns.axis && drawn_->columns.width == columns.width &&
      drawn_->rows.bottom == rows.bottom && drawn_->rows.bytes_per_row == rows.bytes_per_row &&
      drawn_->rows.count == rows.count) {
    // Grid indices of any int64 that a page may ask for.
    const auto begin = static_cast<__int128>(drawn_->columns.first) - columns.first;
    const auto from = std::clamp<__int128>(begin, 0, columns.count);
    const auto to = std::clamp<__int128>(begin + drawn_->columns.count, 0, columns.count);
    if (from < to) {
      range = {static_cast<int32_t>(from), static_cast<int32_t>(to)};
      source = static_cast<size_t>(from - begin) * height;
    }
  }
  if (!pixels_.resize(std::max(size, pixels_.size()), 0)) return std::nullopt;
  std::memmove(pixels_.data() + static_cast<size_t>(range.from) * height, pixels_.data() + source,
               static_cast<size_t>(range.to - range.from) * height * sizeof(uint32_t));
  pixels_.truncate(size);
  return range;
}

}  // namespace memstrata::replay
