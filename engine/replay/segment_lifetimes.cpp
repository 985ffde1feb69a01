#include "engine/replay/segment_lifetimes.h"

#include <algorithm>

namespace memstrata::replay {

namespace {

[[nodiscard]] bool fill(const StateHistory& history, SegmentLifetimes& found) {
  const SpanHistory& ranges = history.ranges;
  Lifetimes& lives = found.lifetimes;
  const int32_t count = ranges.count();
  const auto rows = static_cast<size_t>(count);
  lives.device = history.rows.device;
  lives.events = history.rows.events;
  lives.from_start = ranges.beginning_in(-2, -1).last;
  if (!found.row_of_rank.resize(rows, 0) || !lives.size.resize(rows, 0) || !lives.born.resize(rows, 0) ||
      !lives.freed.resize(rows, 0) || !lives.version.resize(rows, 0) ||
      !lives.given_address.resize(rows, 0) ||
      !lives.source.resize(static_cast<size_t>(lives.from_start), -1) ||
      !lives.level.resize(static_cast<size_t>(history.event_count()), 0)) {
    return false;
  }
  for (int32_t row = 0; row < count; ++row) found.row_of_rank[static_cast<size_t>(row)] = row;
  std::sort(found.row_of_rank.data(), found.row_of_rank.data() + lives.from_start, [&](int32_t a, int32_t b) {
    const int32_t left = ranges.end[static_cast<size_t>(a)], right = ranges.end[static_cast<size_t>(b)];
    return left != right ? left > right : a < b;
  });
  int64_t level = 0;
  for (size_t rank = 0; rank < rows; ++rank) {
    const auto row = static_cast<size_t>(found.row_of_rank[rank]);
    // Ranges do not overlap, but a hostile file can fill all addresses: bytes beyond kMaxLevel count as 0.
    const bool fits = ranges.size[row] <= kMaxLevel - level;
    const int64_t size = fits ? ranges.size[row] : 0;
    if (!fits) lives.diagnostics.add(model::Diag::level_overflow);
    level += size;  // of all, live or not: an upper bound of every level
    lives.size[rank] = size;
    lives.born[rank] = ranges.begin[row];
    lives.freed[rank] = ranges.end[row];
    lives.version[rank] = history.range_version[row];
    lives.given_address[rank] = ranges.address[row];
  }
  return true;
}

[[nodiscard]] bool sum_levels(SegmentLifetimes& found, Budget& budget) {
  Lifetimes& lives = found.lifetimes;
  const int32_t count = lives.events.count;
  Column<int64_t> change(budget);
  if (!change.resize(static_cast<size_t>(count) + 1, 0)) return false;
  for (size_t rank = 0; rank < lives.size.size(); ++rank) {
    if (lives.born[rank] < 0) {
      lives.initial_level += lives.size[rank];
    } else {
      change[static_cast<size_t>(lives.born[rank])] += lives.size[rank];
    }
    change[static_cast<size_t>(lives.freed[rank])] -= lives.size[rank];
  }
  int64_t level = lives.initial_level;
  lives.peak_level = level;
  lives.reserved.initial = level;
  for (int32_t event = 0; event < count; ++event) {
    const int64_t step = change[static_cast<size_t>(event)];
    level += step;
    lives.level[static_cast<size_t>(event)] = level;
    if (step != 0 && (!lives.reserved.event.push_back(event) || !lives.reserved.value.push_back(level)))
      return false;
    if (level > lives.peak_level) {
      lives.peak_level = level;
      lives.peak_event = event;
    }
  }
  lives.final_level = level;
  return true;
}

}  // namespace

Result<SegmentLifetimes> segment_lifetimes(const model::Recording& recording, const StateHistory& history) {
  SegmentLifetimes found(recording.budget);
  if (!fill(history, found) || !sum_levels(found, recording.budget)) {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the timeline of {} segments",
                history.ranges.count());
  }
  return found;
}

}  // namespace memstrata::replay
