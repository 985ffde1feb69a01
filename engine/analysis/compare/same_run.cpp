#include "engine/analysis/compare/same_run.h"

#include <algorithm>

#include "engine/base/column.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

constexpr int32_t kMostLookedAt = 1000;  // events

struct Places {
  explicit Places(Budget& budget) : all(budget) {}

  struct Place {
    uint64_t address;
    int64_t size;
    auto operator<=>(const Place&) const = default;
  };
  Column<Place> all;  // ascending
  int64_t bytes = 0;
};

// The segments that are there at the end.
[[nodiscard]] bool find_places(const SideOfRun& side, Places& found) {
  const model::SegmentTable& table = side.recording.segments;
  for (int32_t row = side.part.segments.first; row < side.part.segments.end(); ++row) {
    if (table.device[row] != side.device) continue;
    if (!found.all.push_back({table.address[row], table.total_size[row]})) return false;
    add_saturated(found.bytes, table.total_size[row]);
  }
  std::sort(found.all.data(), found.all.data() + found.all.size());
  return true;
}

struct Times {
  int64_t first = model::kNoTime, last = model::kNoTime;

  [[nodiscard]] bool are_known() const { return first != model::kNoTime && last != model::kNoTime; }
};
[[nodiscard]] Times times_of(const SideOfRun& side) {
  const model::RowRange events = side.part.events_of(side.device);
  if (events.count == 0) return {};
  const auto& time = side.recording.events.time;
  return {time[static_cast<size_t>(events.first)], time[static_cast<size_t>(events.end() - 1)]};
}

// Of events in the range of times of both, as many as are looked at.
[[nodiscard]] bool have_an_event_in_common(const SideOfRun& before, const SideOfRun& after, int64_t from,
                                           int64_t until) {
  const model::EventTable &one = before.recording.events, &other = after.recording.events;
  const auto rows_from = [](const model::EventTable& events, model::RowRange range, int64_t time) {
    int32_t first = range.first, count = range.count;
    while (count > 0) {
      const int32_t half = count / 2;
      const bool is_before = events.time[first + half] < time;
      if (is_before) first += half + 1;
      count = is_before ? count - half - 1 : half;
    }
    return first;
  };
  const model::RowRange of_one = before.part.events_of(before.device),
                        of_other = after.part.events_of(after.device);
  int32_t looked_at = 0;
  for (int32_t row = rows_from(other, of_other, from); row < of_other.end() && looked_at < kMostLookedAt;
       ++row, ++looked_at) {
    if (other.time[row] > until) break;
    for (int32_t same = rows_from(one, of_one, other.time[row]); same < of_one.end(); ++same) {
      if (one.time[same] != other.time[row]) break;
      if (one.action[same] == other.action[row] && one.address[same] == other.address[row]) return true;
    }
  }
  return false;
}

}  // namespace

Result<bool> are_of_one_run(const SideOfRun& before, const SideOfRun& after) {
  if (before.device != after.device) return false;
  const Times one = times_of(before), other = times_of(after);
  if (one.are_known() && other.are_known()) {
    const int64_t from = std::max(one.first, other.first), until = std::min(one.last, other.last);
    return from <= until && have_an_event_in_common(before, after, from, until);
  }
  Places was(before.recording.budget), is(after.recording.budget);
  if (!find_places(before, was) || !find_places(after, is))
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to compare segments.");
  int64_t both = 0;
  for (const Places::Place& place : was.all) {
    if (std::binary_search(is.all.begin(), is.all.end(), place)) add_saturated(both, place.size);
  }
  return both > 0 && both >= std::min(was.bytes, is.bytes) / 2;
}

}  // namespace gpustrata::analysis
