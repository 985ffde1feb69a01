#include "engine/replay/event_axis.h"

#include <algorithm>

namespace memstrata::replay {

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
  const auto times = recording.events.time.span().subspan(static_cast<size_t>(events.first),
                                                          static_cast<size_t>(events.count));
  const auto is_time = [](int64_t time) { return time != model::kNoTime; };
  const auto first = std::find_if(times.begin(), times.end(), is_time);
  times_ = {};
  clock_.clear();
  if (first == times.end()) return true;

  base_ = *first;
  // INT64_MIN, the missing time, is out of order too, except at the very start.
  constexpr int64_t kMicrosecond = 1000;  // ns
  const bool in_order =
      clock.tick_ns == kMicrosecond && first == times.begin() && std::is_sorted(times.begin(), times.end());
  int64_t length;
  if (in_order && !__builtin_sub_overflow(times.back(), base_, &length) && length < kMaxExtent) {
    times_ = times;
    return true;
  }
  if (!clock_.resize(times.size(), 0)) return false;
  int64_t latest = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    int64_t position = 0;
    if (is_time(times[i])) {
      const __int128 exact = (static_cast<__int128>(times[i]) - base_) * clock.tick_ns / kMicrosecond;
      position = static_cast<int64_t>(std::clamp<__int128>(exact, 0, kMaxExtent));
    }
    latest = std::max(latest, std::min(position, kMaxExtent - 1));
    clock_[i] = latest;
  }
  base_ = 0;
  times_ = clock_.span();
  return true;
}

int64_t EventAxis::extent(Axis axis) const {
  if (axis == Axis::event) return std::max(event_count_, 1);
  return times_.empty() ? 0 : times_.back() - base_ + 1;
}

int64_t EventAxis::position(Axis axis, int32_t event) const {
  if (event < 0) return 0;
  if (event >= event_count_) return extent(axis);
  if (axis == Axis::event) return event;
  return times_.empty() ? 0 : times_[static_cast<size_t>(event)] - base_;
}

int32_t EventAxis::first_at(Axis axis, int64_t position, int32_t hint) const {
  if (position <= 0) return hint;
  if (position >= extent(axis)) return event_count_;
  if (axis == Axis::event) return static_cast<int32_t>(position);
  const int64_t* begin = times_.data();
  const int64_t* end = begin + times_.size();
  const int64_t time = position + base_;
  const int64_t* low = begin + hint;
  ptrdiff_t step = 1;
  while (end - low > step && low[step] < time) {
    low += step;
    step *= 2;
  }
  const int64_t* high = end - low > step ? low + step + 1 : end;
  return static_cast<int32_t>(std::lower_bound(low, high, time) - begin);
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

}  // namespace memstrata::replay
