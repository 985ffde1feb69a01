#include "engine/replay/event_axis.h"

#include <algorithm>

namespace gpustrata::replay {

namespace {

// Left border of column k, kept within reach of every extent so that no hostile grid overflows.
int64_t border_of(int64_t k, int64_t width) {
  int64_t border;
  if (__builtin_mul_overflow(k, width, &border)) return k < 0 ? -1 : kMaxExtent;
  return std::clamp(border, int64_t{-1}, kMaxExtent);
}

int64_t add_columns(int64_t k, int64_t count) {
  int64_t sum;
  return __builtin_add_overflow(k, count, &sum) ? INT64_MAX : sum;
}

}  // namespace

bool EventAxis::build(const model::Recording& recording, model::RowRange events, const model::Clock& clock) {
  event_count_ = events.count;
  first_ = events.first;
  recorded_ = &recording.events.time;
  has_times_ = false;
  clock_.clear();
  int32_t first = 0;
  while (first < event_count_ && time(first) == model::kNoTime) ++first;
  if (first == event_count_) return true;

  has_times_ = true;
  base_ = time(first);
  // INT64_MIN, the missing time, is out of order too, except at the very start.
  constexpr int64_t kMicrosecond = 1000;  // ns
  bool in_order = clock.tick_ns == kMicrosecond && first == 0;
  int64_t before = base_;
  for (int32_t event = 0; in_order && event < event_count_; ++event) {
    const int64_t now = time(event);
    in_order = now >= before;
    before = now;
  }
  int64_t length;
  if (in_order && !__builtin_sub_overflow(before, base_, &length) && length < kMaxExtent) return true;

  int64_t latest = 0;
  for (int32_t event = 0; event < event_count_; ++event) {
    int64_t position = 0;
    if (const int64_t ticks = time(event); ticks != model::kNoTime) {
      const __int128 exact = (static_cast<__int128>(ticks) - base_) * clock.tick_ns / kMicrosecond;
      position = static_cast<int64_t>(std::clamp<__int128>(exact, 0, kMaxExtent));
    }
    latest = std::max(latest, std::min(position, kMaxExtent - 1));
    if (!clock_.push_back(latest)) return false;
  }
  clock_.shrink_to_fit();
  recorded_ = nullptr;
  base_ = 0;
  return true;
}

int64_t EventAxis::extent(Axis axis) const {
  if (axis == Axis::event) return std::max(event_count_, 1);
  return has_times_ ? time(event_count_ - 1) - base_ + 1 : 0;
}

int64_t EventAxis::position(Axis axis, int32_t event) const {
  if (event < 0) return 0;
  if (event >= event_count_) return extent(axis);
  if (axis == Axis::event) return event;
  return has_times_ ? time(event) - base_ : 0;
}

int32_t EventAxis::first_at(Axis axis, int64_t position, int32_t hint) const {
  if (position <= 0) return hint;
  if (position >= extent(axis)) return event_count_;
  if (axis == Axis::event) return static_cast<int32_t>(position);
  const int64_t wanted = position + base_;
  int32_t low = hint;
  int64_t step = 1;
  while (event_count_ - low > step && time(low + static_cast<int32_t>(step)) < wanted) {
    low += static_cast<int32_t>(step);
    step *= 2;
  }
  int32_t high = event_count_ - low > step ? low + static_cast<int32_t>(step) + 1 : event_count_;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (time(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

EventRange EventAxis::range(Axis axis, int64_t first, int64_t count, int64_t width) const {
  if (width < 1 || count < 1) return {};
  const int64_t left = border_of(first, width);
  const int64_t right = border_of(add_columns(first, count), width);
  if (right <= 0 || std::max(left, int64_t{0}) >= extent(axis)) return {};
  const int32_t begin = first_at(axis, left, 0);
  return {begin, first_at(axis, right, begin), true};
}

ColumnCursor::ColumnCursor(const EventAxis& axis, const ColumnGrid& grid)
    : axis_(axis), grid_(grid), k_(grid.first) {}

EventRange ColumnCursor::next() {
  EventRange range;
  if (border_ < 0) {
    range = axis_.range(grid_.axis, k_, 1, grid_.width);
  } else if (const int64_t left = border_of(k_, grid_.width); left < axis_.extent(grid_.axis)) {
    const int64_t right = border_of(add_columns(k_, 1), grid_.width);
    range = {border_, axis_.first_at(grid_.axis, right, border_), true};
  }
  if (range.inside) border_ = range.end;
  k_ = add_columns(k_, 1);
  return range;
}

}  // namespace gpustrata::replay
