#include "engine/replay/state_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpustrata::replay {

namespace {

constexpr double kFilled = 0.8;          // of a row's height
constexpr double kGapOfRow = 1.0 / 200;  // between two segments

[[nodiscard]] StateKind kind_of(const BlockAt& block) {
  if (block.row < 0) return StateKind::gap;
  return block.state == model::BlockState::active_pending_free ? StateKind::pending : StateKind::block;
}

// Comparisons are false for what is not a number.
[[nodiscard]] bool is_of_a_screen(const StateWindow& window) {
  constexpr double kLargestSide = 1 << 16, kLargestZoom = 0x1p40, kFarthestCorner = 0x1p60;
  const auto is_side = [](double side) { return side >= 1 && side <= kLargestSide; };
  return is_side(window.width) && is_side(window.height) && window.zoom >= 1 && window.zoom <= kLargestZoom &&
         std::abs(window.left) <= kFarthestCorner && std::abs(window.top) <= kFarthestCorner;
}

// A block in its colour. Pieces are weighed by 1/65536 of a pixel: what is drawn together is about one wide,
// whatever the file says of its bytes.
class Painter {
 public:
  explicit Painter(const StatePaint* paint) : paint_(paint) {}

  [[nodiscard]] bool paints() const { return paint_ != nullptr; }
  [[nodiscard]] bool is_dimmed(int32_t block) const {
    const int32_t rank = rank_of(block);
    return rank >= 0 ? paint_->colours.is_dimmed(static_cast<uint32_t>(rank))
                     : block >= 0 && !paint_->colours.style().matched.empty();
  }
  [[nodiscard]] uint32_t colour_of(int32_t block) const {
    const int32_t rank = rank_of(block);
    return rank >= 0 ? paint_->colours.of(static_cast<uint32_t>(rank))
                     : paint_->colours.of_other(paint_->unranked);
  }
  [[nodiscard]] Weight weight_of(int32_t block, double pixels) const {
    const auto weight = std::max<int64_t>(1, static_cast<int64_t>(pixels * 65536));
    const int32_t rank = rank_of(block);
    return rank >= 0 ? paint_->colours.weight_of(static_cast<uint32_t>(rank), weight)
                     : BandColours::weight_of_colour(colour_of(block), weight);
  }
  [[nodiscard]] uint32_t mean_of(const Weight& weight) const {
    return paint_->colours.mean(weight) | 0xFF000000;
  }

 private:
  [[nodiscard]] int32_t rank_of(int32_t block) const {
    return block < 0 ? -1 : paint_->rank_of_block[static_cast<size_t>(block)];
  }
  const StatePaint* paint_;
};

// Blocks of a segment from the left; what is narrower than a pixel waits until it fills one.
class Strip {
 public:
  Strip(StateRects& out, const Painter& painter, double y, double height, double visible_width)
      : out_(out), painter_(painter), y_(y), height_(height), visible_(visible_width) {}

  // `row` is that of a block unless the kind is a segment or a gap.
  void add(double from, double until, StateKind kind, int32_t row) {
    if (until <= 0 || from >= visible_) return;
    const bool is_block = painter_.paints() && kind != StateKind::segment && kind != StateKind::gap;
    if (until - from >= 1) {
      flush();
      emit(from, until, kind, row);
      if (painter_.paints()) {
        out_.colour.push_back(is_block ? painter_.colour_of(row) : 0);
        out_.matched.push_back(is_block && painter_.is_dimmed(row) ? 0 : 1);
      }
      return;
    }
    if (pieces_ == 0) start_ = from;
    end_ = until;
    const auto k = static_cast<size_t>(kind);
    bytes_[static_cast<size_t>(k)] += until - from;
    if (is_block) {
      weights_[static_cast<size_t>(k)] += painter_.weight_of(row, until - from);
      lit_[static_cast<size_t>(k)] = lit_[static_cast<size_t>(k)] || !painter_.is_dimmed(row);
    }
    row_ = pieces_++ == 0 ? row : -1;
    if (end_ - start_ >= 1) flush();
  }
  void flush() {
    if (pieces_ == 0) return;
    const auto most = static_cast<size_t>(std::max_element(bytes_.begin(), bytes_.end()) - bytes_.begin());
    const auto kind = static_cast<StateKind>(most);
    emit(start_, end_, kind, row_);
    if (painter_.paints()) {
      const bool is_block = kind != StateKind::segment && kind != StateKind::gap;
      out_.colour.push_back(is_block ? painter_.mean_of(weights_[most]) : 0);
      out_.matched.push_back(!is_block || lit_[most] ? 1 : 0);
    }
    pieces_ = 0;
    bytes_ = {};
    weights_ = {};
    lit_ = {};
  }

 private:
  void emit(double from, double until, StateKind kind, int32_t row) {
    const double left = std::max(from, -1.0), right = std::min(until, visible_ + 1);
    out_.x.push_back(static_cast<float>(left));
    out_.y.push_back(static_cast<float>(y_));
    out_.width.push_back(static_cast<float>(right - left));
    out_.height.push_back(static_cast<float>(height_));
    out_.kind.push_back(static_cast<uint8_t>(kind));
    out_.row.push_back(row);
  }

  StateRects& out_;
  const Painter& painter_;
  double y_, height_, visible_;
  double start_ = 0, end_ = 0;
  // Per StateKind, of the pieces that wait.
  std::array<double, 5> bytes_{};  // pixels
  std::array<Weight, 5> weights_{};
  std::array<bool, 5> lit_{};
  int32_t pieces_ = 0, row_ = -1;
};

[[nodiscard]] float free_share(std::span<const BlockAt> blocks, int64_t size) {
  double free = 0;
  for (const BlockAt& block : blocks) free += block.row < 0 ? static_cast<double>(block.size) : 0;
  return size > 0 ? static_cast<float>(std::min(free / static_cast<double>(size), 1.0)) : 0;
}

}  // namespace

bool StateLayout::pack(const MemoryAt& memory) {
  const auto segments = memory.segments();
  places_.clear();
  rows_ = 0;
  row_bytes_ = 1;
  if (!places_.resize(segments.size(), {})) return false;
  for (size_t i = 0; i < segments.size(); ++i) {
    places_[i].segment = static_cast<int32_t>(i);
    row_bytes_ = std::max(row_bytes_, static_cast<double>(segments[i].size));
  }
  std::sort(places_.data(), places_.data() + places_.size(), [&](const Packed& a, const Packed& b) {
    const SegmentAt &left = segments[static_cast<size_t>(a.segment)],
                    &right = segments[static_cast<size_t>(b.segment)];
    return left.size != right.size ? left.size < right.size : left.address < right.address;
  });
  double x = 0;
  for (Packed& place : places_.span()) {
    const auto size = static_cast<double>(segments[static_cast<size_t>(place.segment)].size);
    if (x > 0 && x + size > row_bytes_) {
      x = 0;
      ++rows_;
    }
    place.x = x;
    place.row = rows_;
    x += size + row_bytes_ * kGapOfRow;
  }
  rows_ += places_.empty() ? 0 : 1;
  return true;
}

double StateLayout::bytes_to_pixels(const StateWindow& window) const {
  return window.width * window.zoom / row_bytes_;
}

StateLayout::Place StateLayout::place_of(const MemoryAt& memory, int32_t segment,
                                         const StateWindow& window) const {
  if (!is_of_a_screen(window)) return {};
  const double row_height = window.height * window.zoom / std::max(rows_, 1);
  for (const Packed& place : places_) {
    if (place.segment != segment) continue;
    const auto size = static_cast<double>(memory.segments()[static_cast<size_t>(segment)].size);
    return {place.x * bytes_to_pixels(window), place.row * row_height, size * bytes_to_pixels(window),
            row_height * kFilled};
  }
  return {};
}

StateRects StateLayout::rects(const MemoryAt& memory, const StateWindow& window,
                              const StatePaint* paint) const {
  StateRects out;
  const Painter painter(paint);
  if (!is_of_a_screen(window) || rows_ == 0) return out;
  const double scale = bytes_to_pixels(window);
  const double row_height = window.height * window.zoom / rows_;
  const auto first = std::lower_bound(places_.begin(), places_.end(), window.top / row_height - 1,
                                      [](const Packed& place, double row) { return place.row < row; });
  int32_t drawn_row = -1;
  double drawn_pixel = -2;
  for (const Packed* place = first; place != places_.end(); ++place) {
    const double y = place->row * row_height - window.top;
    if (y >= window.height) break;
    if (place->row != drawn_row) {
      if (std::floor(y) == drawn_pixel) continue;  // another row has this pixel
      drawn_row = place->row;
      drawn_pixel = std::floor(y);
    }
    const SegmentAt& segment = memory.segments()[static_cast<size_t>(place->segment)];
    const double x = place->x * scale - window.left;
    const double width = static_cast<double>(segment.size) * scale;
    if (x + width <= 0 || x >= window.width) continue;
    const double height = std::max(row_height * kFilled, 1.0);
    Strip whole(out, painter, y, height, window.width);
    whole.add(x, x + std::max(width, 1.0), StateKind::segment, segment.row);
    whole.flush();
    out.free.resize(out.x.size(), free_share(memory.blocks_of(segment), segment.size));
    Strip strip(out, painter, y, height, window.width);
    for (const BlockAt& block : memory.blocks_of(segment)) {
      const double from = x + static_cast<double>(block.address - segment.address) * scale;
      const double until = from + static_cast<double>(block.size) * scale;
      if (from >= window.width) break;
      const bool has_rounding = block.row >= 0 && block.requested_size < block.size;
      const double used = has_rounding ? from + static_cast<double>(block.requested_size) * scale : until;
      strip.add(from, used, kind_of(block), block.row);
      if (has_rounding) strip.add(used, until, StateKind::rounding, block.row);
    }
    strip.flush();
    out.free.resize(out.x.size(), 0);
  }
  return out;
}

StateLayout::Hit StateLayout::hit(const MemoryAt& memory, const StateWindow& window, double x,
                                  double y) const {
  Hit hit;
  if (!is_of_a_screen(window) || rows_ == 0) return hit;
  const double row_height = window.height * window.zoom / rows_;
  const double at_row = (y + window.top) / row_height;
  if (!(at_row >= 0) || at_row >= rows_) return hit;
  const auto row = static_cast<int32_t>(at_row);
  if (at_row - row > kFilled && row_height * (1 - kFilled) >= 1) return hit;
  const double bytes = (x + window.left) / bytes_to_pixels(window);
  for (const Packed *place = std::lower_bound(places_.begin(), places_.end(), row,
                                              [](const Packed&p, int32_t r) { return p.row < r; });
       place != places_.end() && place->row == row; ++place) {
    const SegmentAt& segment = memory.segments()[static_cast<size_t>(place->segment)];
    const double offset = bytes - place->x;
    if (!(offset >= 0) || offset >= static_cast<double>(segment.size)) continue;
    hit.segment = place->segment;
    const uint64_t address = segment.address + static_cast<uint64_t>(offset);
    const auto blocks = memory.blocks_of(segment);
    const auto above = std::upper_bound(blocks.begin(), blocks.end(), address,
                                        [](uint64_t a, const BlockAt& block) { return a < block.address; });
    if (above == blocks.begin()) return hit;
    const BlockAt& block = *(above - 1);
    hit.block = segment.first_block + static_cast<int32_t>(above - 1 - blocks.begin());
    hit.part = block.row >= 0 && address - block.address >= static_cast<uint64_t>(block.requested_size)
                   ? StateKind::rounding
                   : kind_of(block);
    return hit;
  }
  return hit;
}

}  // namespace gpustrata::replay
