#include "engine/replay/segment_bands.h"

#include <algorithm>

namespace gpustrata::replay {

namespace {

[[nodiscard]] bool fill(const StateHistory& history, SegmentBands& found) {
  const SpanHistory& ranges = history.ranges;
  const int32_t count = ranges.count();
  const auto rows = static_cast<size_t>(count);
  found.device = history.rows.device;
  found.clock = history.rows.clock;
  found.events = history.rows.events;
  found.from_start = ranges.beginning_in(-2, -1).last;
  if (!found.range_of_rank.resize(rows, 0) || !found.size.resize(rows, 0) || !found.born.resize(rows, 0) ||
      !found.freed.resize(rows, 0) || !found.version.resize(rows, 0) || !found.address.resize(rows, 0) ||
      !found.level.resize(static_cast<size_t>(history.event_count()), 0)) {
    return false;
  }
  for (int32_t row = 0; row < count; ++row) found.range_of_rank[row] = row;
  std::sort(found.range_of_rank.data(), found.range_of_rank.data() + found.from_start,
            [&](int32_t a, int32_t b) {
              const int32_t left = ranges.end[a], right = ranges.end[b];
              return left != right ? left > right : a < b;
            });
  int64_t level = 0;
  for (size_t rank = 0; rank < rows; ++rank) {
    const auto row = static_cast<size_t>(found.range_of_rank[rank]);
    // Ranges do not overlap, but a hostile file can fill all addresses: bytes beyond kMaxLevel count as 0.
    const bool fits = ranges.size[row] <= kMaxLevel - level;
    const int64_t size = fits ? ranges.size[row] : 0;
    if (!fits) found.diagnostics.add(model::Diag::level_overflow);
    level += size;  // of all, live or not: an upper bound of every level
    found.size[rank] = size;
    found.born[rank] = ranges.begin[row];
    found.freed[rank] = ranges.end[row];
    found.version[rank] = history.range_version[row];
    found.address[rank] = ranges.address[row];
  }
  return true;
}

[[nodiscard]] bool sum_levels(SegmentBands& found, Budget& budget) {
  const int32_t count = found.events.count;
  Column<int64_t> change(budget);
  if (!change.resize(static_cast<size_t>(count) + 1, 0)) return false;
  for (size_t rank = 0; rank < found.size.size(); ++rank) {
    if (found.born[rank] < 0) {
      found.initial_level += found.size[rank];
    } else {
      change[found.born[rank]] += found.size[rank];
    }
    change[found.freed[rank]] -= found.size[rank];
  }
  int64_t level = found.initial_level;
  found.peak_level = level;
  found.reserved.initial = level;
  for (int32_t event = 0; event < count; ++event) {
    const int64_t step = change[event];
    level += step;
    found.level[event] = level;
    if (step != 0 && (!found.reserved.event.push_back(event) || !found.reserved.value.push_back(level)))
      return false;
    if (level > found.peak_level) {
      found.peak_level = level;
      found.peak_event = event;
    }
  }
  found.final_level = level;
  return true;
}

}  // namespace

Result<SegmentBands> segment_bands(const model::Recording& recording, const StateHistory& history) {
  SegmentBands found(recording.budget);
  if (!fill(history, found) || !sum_levels(found, recording.budget)) {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the timeline of {} segments",
                history.ranges.count());
  }
  return found;
}

}  // namespace gpustrata::replay
