#include "engine/replay/span_lanes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "engine/base/saturating.h"

namespace gpustrata::replay {

using model::RowRange;
using model::SpanKind;

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

[[nodiscard]] bool has_lane(SpanKind kind) { return kind == SpanKind::op || kind == SpanKind::annotation; }

// Doubles that 64 bits do not hold become the nearest that they do.
[[nodiscard]] int64_t ticks_of(double ticks) {
  constexpr double kLimit = 9223372036854774784.0;  // the largest double below 2^63
  if (!(ticks > -kLimit)) return std::numeric_limits<int64_t>::min();
  return ticks >= kLimit ? kNever : static_cast<int64_t>(ticks);
}

}  // namespace

int64_t lane_end(const model::SpanTable& spans, int32_t span) {
  return saturated_sum(spans.start[span], std::max<int64_t>(spans.duration[span], 1));
}

// -- The axis.

SpanAxis::SpanAxis(const model::Recording& recording, RowRange events, const model::Clock& clock)
    : times_(recording.events.time),
      events_(events),
      us_per_tick_(static_cast<double>(clock.tick_ns) / 1000.0),
      base_(events.count == 0 ? 0 : time_of(0)) {}

int32_t SpanAxis::events_before(int64_t time) const {
  int32_t low = 0, high = events_.count;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (time_of(static_cast<size_t>(middle)) < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

double SpanAxis::position(Axis axis, int64_t time) const {
  if (axis == Axis::event) return events_before(time);
  int64_t ticks = 0;
  if (!__builtin_sub_overflow(time, base_, &ticks)) return static_cast<double>(ticks) * us_per_tick_;
  return (static_cast<double>(time) - static_cast<double>(base_)) * us_per_tick_;
}

int64_t SpanAxis::first_tick(Axis axis, double position) const {
  if (axis == Axis::time) return saturated_sum(base_, ticks_of(std::ceil(position / us_per_tick_)));
  // So many events must be before it: it comes after the last of these.
  const double events = std::ceil(position);
  if (events <= 0) return std::numeric_limits<int64_t>::min();
  if (events > events_.count) return kNever;
  return saturated_sum(time_of(static_cast<size_t>(events) - 1), 1);
}

int64_t SpanAxis::last_tick(Axis axis, double position) const {
  if (axis == Axis::time) return saturated_sum(base_, ticks_of(std::floor(position / us_per_tick_)));
  const double events = std::floor(position);
  if (events < 0) return std::numeric_limits<int64_t>::min();
  if (events >= events_.count) return kNever;
  return time_of(static_cast<size_t>(events));
}

// -- Rows.

SpanLanes::SpanLanes(const model::Recording& recording)
    : recording_(&recording), spans_(&recording.spans), order_(recording.budget), rows_(recording.budget) {}

Result<SpanLanes> SpanLanes::make(const model::Recording& recording, const model::Part& part,
                                  const model::DeviceTrace* trace) {
  SpanLanes lanes(recording);
  if (lanes.build(part, trace)) return lanes;
  return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the lanes of {} spans", part.spans.count);
}

int64_t SpanLanes::end_of(int32_t place) const { return lane_end(*spans_, order_[place]); }

std::optional<SpanLanes::Place> SpanLanes::place_of(int32_t span) const {
  for (size_t index = 0; index < threads_.size(); ++index) {
    const Thread& thread = threads_[index];
    if (thread.thread != spans_->thread[span]) continue;
    for (int32_t row = 0; row < thread.rows; ++row) {
      const RowRange range = this->row(thread, row);
      const int32_t* const end = order_.data() + range.end();
      const int32_t* const found =
          std::lower_bound(order_.data() + range.first, end, spans_->start[span],
                           [&](int32_t one, int64_t start) { return spans_->start[one] < start; });
      // Nothing overlaps within a row, so one begins there at most.
      if (found != end && *found == span) return Place{static_cast<int32_t>(index), row};
    }
  }
  return std::nullopt;
}

bool SpanLanes::build(const model::Part& part, const model::DeviceTrace* trace) {
  struct Found {
    RowRange spans;
    int64_t ops;
    int64_t records;
    int32_t thread;
  };
  Budget& budget = recording_->budget;
  Column<int64_t> records(budget);
  if (!records.resize(recording_->threads.size_rows(), 0)) return false;
  if (trace != nullptr && trace->first_record >= 0) {
    for (int32_t i = 0; i < trace->events.count; ++i)
      ++records[recording_->records.thread[trace->first_record + i]];
  }
  // Spans are sorted by thread.
  Column<Found> found(budget);
  for (int32_t span = part.spans.first; span < part.spans.end();) {
    Found one{{span, 0}, 0, 0, spans_->thread[span]};
    for (; span < part.spans.end() && spans_->thread[span] == one.thread; ++span)
      one.ops += has_lane(spans_->kind[span]) ? 1 : 0;
    one.spans.count = span - one.spans.first;
    one.records = records[one.thread];
    if (one.ops > 0 && !found.push_back(one)) return false;
  }
  std::sort(found.data(), found.data() + found.size(), [](const Found& a, const Found& b) {
    return std::tuple(-a.records, -a.ops, a.thread) < std::tuple(-b.records, -b.ops, b.thread);
  });
  const size_t shown = std::min(found.size(), kMostLaneThreads);
  threads_left_out_ = static_cast<int32_t>(found.size() - shown);
  for (const Found& one : found.span().first(shown)) {
    if (!add_thread(one.spans, one.records)) return false;
  }
  return true;
}

bool SpanLanes::add_thread(RowRange spans, int64_t records) {
  // Those that go on, rows ascending: an op comes below all of them, so its row is the last one's and one more. One
  // that is over may stay below another one; it does no harm there.
  struct Open {
    int64_t end;
    int32_t row;
  };
  Budget& budget = recording_->budget;
  Column<Open> open(budget);
  Column<int32_t> counts(budget);  // of each row
  Column<uint8_t> row_of(budget);  // of each span; kNoRow = none
  constexpr uint8_t kNoRow = 255;
  static_assert(kMostLaneRows < kNoRow);
  if (!row_of.resize(static_cast<size_t>(spans.count), kNoRow)) return false;
  Thread thread{.thread = spans_->thread[spans.first],
                .records = records,
                .first_row = static_cast<int32_t>(rows_.size())};
  for (int32_t i = 0; i < spans.count; ++i) {
    const int32_t span = spans.first + i;
    if (!has_lane(spans_->kind[span])) continue;
    ++thread.spans;
    while (!open.empty() && open.back().end <= spans_->start[span]) open.pop_back();
    const int32_t row = open.empty() ? 0 : open.back().row + 1;
    if (row >= kMostLaneRows) {
      ++thread.deeper;
      continue;
    }
    if (static_cast<size_t>(row) == counts.size() && !counts.push_back(0)) return false;
    ++counts[row];
    row_of[i] = static_cast<uint8_t>(row);
    if (!open.push_back({lane_end(*spans_, span), row})) return false;
  }
  thread.rows = static_cast<int32_t>(counts.size());
  auto next = static_cast<int32_t>(order_.size());
  for (int32_t& count : counts.span()) {
    if (!rows_.push_back({next, count})) return false;
    next += std::exchange(count, next);  // from now on where its next one goes
  }
  if (!order_.resize(static_cast<size_t>(next), -1)) return false;
  for (int32_t i = 0; i < spans.count; ++i) {
    if (row_of[i] != kNoRow) order_[counts[row_of[i]]++] = spans.first + i;
  }
  threads_.push_back(thread);
  return true;
}

// -- Pixels.

void SpanLanes::entries(const SpanAxis& axis, const LaneGrid& grid, RowRange row,
                        std::vector<LaneEntry>& found) const {
  const auto place_of = [&](int64_t column) { return grid.from + static_cast<double>(column) * grid.step; };
  const auto border = [&](int64_t column) { return axis.first_tick(grid.axis, place_of(column)); };
  const auto reach = [&](int64_t column) { return axis.last_tick(grid.axis, place_of(column)); };
  // The first place from `at` on for which `is_before` does not hold; near ones cost little.
  const auto first_not = [&](int32_t at, auto is_before) {
    int32_t low = at, step = 1;
    while (low < row.end() && is_before(low)) {
      at = low + 1;
      low += std::min(step, row.end() - low);
      step *= 2;
      if (step > (1 << 29)) step = 1 << 29;
    }
    int32_t high = std::min(low, row.end());
    while (at < high) {
      const int32_t middle = at + (high - at) / 2;
      if (is_before(middle)) {
        at = middle + 1;
      } else {
        high = middle;
      }
    }
    return at;
  };
  if (grid.count < 1) return;
  const int64_t left = border(0), right = border(grid.count);
  const int64_t seen_from = reach(0);
  int32_t at = first_not(row.first,
                         [&](int32_t place) { return start_of(place) < left && end_of(place) <= seen_from; });
  int32_t column = 0;
  while (at < row.end() && start_of(at) < right) {
    // The last column that begins no later than it; the first one for what began before all of them.
    const int64_t start = start_of(at);
    for (int32_t above = start < left ? 1 : grid.count; above - column > 1;) {
      const int32_t middle = column + (above - column) / 2;
      (border(middle) <= start ? column : above) = middle;
    }
    const int64_t end = border(column + 1);
    const int32_t next = first_not(at + 1, [&](int32_t place) { return start_of(place) < end; });
    const bool last_is_wide = end_of(next - 1) > reach(column + 1);
    const int32_t narrow = last_is_wide ? next - 1 : next;
    if (narrow > at) found.push_back({at, narrow - at, start_of(at), end_of(narrow - 1)});
    if (last_is_wide) found.push_back({next - 1, 1, start_of(next - 1), end_of(next - 1)});
    at = next;
  }
}

}  // namespace gpustrata::replay
