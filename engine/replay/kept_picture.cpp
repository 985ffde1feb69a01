#include "engine/replay/kept_picture.h"

#include <algorithm>
#include <cstring>

namespace gpustrata::replay {

std::span<const uint32_t> KeptPicture::draw(const Timeline& timeline, const ColumnGrid& columns,
                                            const RowGrid& rows, const BandColours* colours) {
  columns_drawn_ = 0;
  if (columns.count <= 0 || rows.count <= 0) return {};
  const Range kept = shared_with(columns, rows);
  drawn_.reset();
  const auto height = static_cast<size_t>(rows.count);
  const auto at = [&](int32_t column) { return pixels_.data() + static_cast<size_t>(column) * height; };
  const size_t size = static_cast<size_t>(columns.count) * height;
  if (!pixels_.resize(std::max(size, pixels_.size()), 0)) return {};
  const auto kept_columns = static_cast<size_t>(kept.to - kept.from);
  std::memmove(at(kept.from), at(kept.source), kept_columns * height * sizeof(uint32_t));
  pixels_.truncate(size);
  const auto draw_part = [&](int32_t from, int32_t to) {
    if (from >= to) return;
    ColumnGrid part = columns;
    part.first += from;
    part.count = to - from;
    timeline.draw(part, rows, {at(from), static_cast<size_t>(part.count) * height}, colours);
    columns_drawn_ += part.count;
  };
  draw_part(0, kept.from);
  draw_part(kept.to, columns.count);
  drawn_ = {columns, rows};
  return pixels_.span();
}

bool KeptPicture::overlaps(const ColumnGrid& columns, const RowGrid& rows) const {
  const Range range = shared_with(columns, rows);
  return range.from < range.to;
}

KeptPicture::Range KeptPicture::shared_with(const ColumnGrid& columns, const RowGrid& rows) const {
  if (!drawn_ || drawn_->columns.axis != columns.axis || drawn_->columns.width != columns.width ||
      drawn_->rows.bottom != rows.bottom || drawn_->rows.bytes_per_row != rows.bytes_per_row ||
      drawn_->rows.count != rows.count) {
    return {};
  }
  int64_t begin;
  if (__builtin_sub_overflow(drawn_->columns.first, columns.first, &begin)) return {};
  const int64_t count = columns.count;
  // Far enough for any count, and what is added below does not overflow.
  begin = std::clamp(begin, -(int64_t{1} << 40), int64_t{1} << 40);
  const int64_t from = std::clamp(begin, int64_t{0}, count);
  const int64_t to = std::clamp(begin + drawn_->columns.count, int64_t{0}, count);
  if (from >= to) return {};
  return {static_cast<int32_t>(from), static_cast<int32_t>(to), static_cast<int32_t>(from - begin)};
}

std::span<const uint32_t> KeptPictures::draw(const Timeline& timeline, const ColumnGrid& columns,
                                             const RowGrid& rows, const BandColours& colours) {
  size_t i = 1 - last_;
  if (pictures_[last_].overlaps(columns, rows) && !pictures_[i].overlaps(columns, rows)) i = last_;
  last_ = i;
  return pictures_[i].draw(timeline, columns, rows, &colours);
}

const KeptPicture* KeptPictures::with(const ColumnGrid& columns) const {
  for (const KeptPicture& picture : pictures_) {
    const auto& drawn = picture.drawn();
    if (!drawn || drawn->columns.axis != columns.axis || drawn->columns.width != columns.width) continue;
    if (columns.count > 0 && columns.first >= drawn->columns.first &&
        columns.first - drawn->columns.first <= int64_t{drawn->columns.count} - columns.count) {
      return &picture;
    }
  }
  return nullptr;
}

}  // namespace gpustrata::replay
