#include "engine/analysis/steps/marks.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/base/saturating.h"

namespace gpustrata::analysis {

using model::kNoTime;
using trace::Action;

namespace {

// One START or END, wherever it comes from.
struct Border {
  StringId name;
  int64_t time;
  int32_t event;
  bool starts;
};

class Regions {
 public:
  explicit Regions(Budget& budget) : found_(budget), next_open_(budget) {}

  // In order of time. False = no memory.
  [[nodiscard]] bool add(const Border& border) {
    if (border.starts) {
      if (!found_.push_back({border.name, border.time, kNoTime, border.event, -1, count(), false, true}))
        return false;
      int32_t& innermost = open_.try_emplace(border.name.value, -1).first->second;
      if (!next_open_.push_back(innermost)) return false;
      innermost = count() - 1;
      return true;
    }
    const auto open = open_.find(border.name.value);
    if (open == open_.end() || open->second < 0) {
      return found_.push_back({border.name, kNoTime, border.time, 0, border.event, count(), true, false}) &&
             next_open_.push_back(-1);
    }
    Region& region = found_[open->second];
    open->second = next_open_[open->second];
    region.to_time = border.time;
    region.to_event = border.event;
    region.cut_end = false;
    return true;
  }
  [[nodiscard]] Column<Region> finish(int32_t event_count) {
    for (Region& region : found_.span()) {
      if (region.cut_end) region.to_event = event_count;
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(found_.size()); }

  Column<Region> found_;
  Column<int32_t> next_open_;                  // per region: the open one around it that has its name
  std::unordered_map<int32_t, int32_t> open_;  // name -> innermost open region
};

[[nodiscard]] bool collect_annotations(const model::Recording& recording, const model::Part& part,
                                       const replay::DeviceRows& rows, Regions& regions) {
  const model::AnnotationTable& table = recording.annotations;
  const model::RowRange events = rows.events;
  if (part.annotations.count == 0) return true;
  Column<int64_t> clock(recording.budget);  // latest time so far
  if (!clock.reserve(static_cast<size_t>(events.count))) return false;
  int64_t latest = kNoTime;
  for (int32_t row = events.first; row < events.end(); ++row) {
    latest = std::max(latest, recording.events.time[row]);
    if (!clock.push_back(latest)) return false;
  }
  for (int32_t row = part.annotations.first; row < part.annotations.end(); ++row) {
    if (table.stage[row] == model::Stage::unknown) continue;
    if (table.device[row] != rows.device && rows.device != replay::kHostDevice) continue;
    const auto event =
        static_cast<int32_t>(std::lower_bound(clock.begin(), clock.end(), table.time[row]) - clock.begin());
    if (!regions.add({table.name[row], table.time[row], event, table.stage[row] == model::Stage::start}))
      return false;
  }
  return true;
}

// Files of mid 2024: one frame whose filename is the region's name and whose name is START or END.
[[nodiscard]] bool collect_user_defined(const model::Recording& recording, const replay::DeviceRows& rows,
                                        Regions& regions) {
  const model::EventTable& events = recording.events;
  for (int32_t event = 0; event < rows.events.count; ++event) {
    const auto row = static_cast<size_t>(rows.events.first + event);
    if (events.action[row] != Action::user_defined || events.stack[row].is_none()) continue;
    const int32_t leaf = recording.stacks.leaf(events.stack[row]);
    if (leaf < 0) continue;
    const trace::Frame& frame = recording.frames[recording.stacks.node(leaf).frame];
    const std::string_view stage = recording.strings.view(frame.name);
    if (stage != "START" && stage != "END") continue;
    if (!regions.add({frame.filename, events.time[row], event, stage == "START"})) return false;
  }
  return true;
}

struct Allocated {
  int64_t bytes = 0, count = 0;

  Allocated operator-(const Allocated& before) const { return {bytes - before.bytes, count - before.count}; }
};

// Before each of the events, which ascend.
[[nodiscard]] std::vector<Allocated> allocated_before(const model::Recording& recording,
                                                      const replay::DeviceRows& rows,
                                                      const std::vector<int32_t>& events) {
  std::vector<Allocated> before;
  Allocated sum;
  int32_t event = 0;
  for (const int32_t border : events) {
    for (; event < border; ++event) {
      const auto row = static_cast<size_t>(rows.events.first + event);
      if (recording.events.action[row] != Action::alloc) continue;
      ++sum.count;
      add_saturated(sum.bytes, recording.events.size[row]);
    }
    before.push_back(sum);
  }
  return before;
}

void list_regions(const model::Recording& recording, const replay::DeviceRows& rows, Column<Region>& regions,
                  Marks& marks) {
  const auto length = [](const Region& region) { return region.to_event - region.from_event; };
  const size_t shown = std::min(regions.size(), kMostRegions);
  Region* const begin = regions.data();
  std::partial_sort(begin, begin + shown, begin + regions.size(), [&](const Region& a, const Region& b) {
    return std::tuple(-length(a), a.order) < std::tuple(-length(b), b.order);
  });
  std::sort(begin, begin + shown, [&](const Region& a, const Region& b) {
    return std::tuple(a.from_event, a.from_time, -length(a), a.order) <
           std::tuple(b.from_event, b.from_time, -length(b), b.order);
  });
  std::vector<int32_t> borders;
  for (size_t i = 0; i < shown; ++i) {
    borders.push_back(regions[i].from_event);
    borders.push_back(regions[i].to_event);
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  const std::vector<Allocated> allocated = allocated_before(recording, rows, borders);
  const auto before = [&](int32_t event) {
    return allocated[static_cast<size_t>(std::lower_bound(borders.begin(), borders.end(), event) -
                                         borders.begin())];
  };
  std::vector<const Region*> around;  // those that go on, outermost first
  for (size_t i = 0; i < shown; ++i) {
    const Region& region = regions[i];
    const auto is_over = [&](const Region* one) {
      if (one->to_event != region.from_event || one->to_time == kNoTime || region.from_time == kNoTime)
        return one->to_event <= region.from_event;
      return one->to_time <= region.from_time;
    };
    while (!around.empty() && is_over(around.back())) around.pop_back();
    const Allocated inside = before(region.to_event) - before(region.from_event);
    marks.regions.push_back({region.name, region.from_event, region.to_event,
                             rows.clock.microseconds(region.from_time),
                             rows.clock.microseconds(region.to_time), static_cast<int32_t>(around.size()),
                             region.cut_start, region.cut_end, inside.bytes, inside.count});
    around.push_back(&region);
  }
  marks.regions_left_out = static_cast<int64_t>(regions.size() - shown);
}

void list_markers(const model::Recording& recording, const replay::DeviceRows& rows, Marks& marks) {
  const model::EventTable& events = recording.events;
  for (int32_t event = 0; event < rows.events.count; ++event) {
    const auto row = static_cast<size_t>(rows.events.first + event);
    const Action action = events.action[row];
    if (action != Action::oom && action != Action::snapshot && action != Action::annotate) continue;
    if (marks.markers.size() == kMostMarkers) {
      ++marks.markers_left_out;
    } else {
      marks.markers.push_back(
          {action, event, rows.clock.microseconds(events.time[row]), events.size[row], events.metadata[row]});
    }
  }
}

}  // namespace

Result<Column<Region>> find_regions(const model::Recording& recording, const model::Part& part,
                                    const replay::DeviceRows& rows) {
  Regions regions(recording.budget);
  if (!collect_annotations(recording, part, rows, regions) ||
      !collect_user_defined(recording, rows, regions)) {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the annotations of this recording");
  }
  return regions.finish(rows.events.count);
}

Result<Marks> find_marks(const model::Recording& recording, const model::Part& part,
                         const replay::DeviceRows& rows) {
  auto regions = find_regions(recording, part, rows);
  if (!regions) return tl::unexpected(regions.error());
  Marks marks;
  list_regions(recording, rows, *regions, marks);
  list_markers(recording, rows, marks);
  return marks;
}

}  // namespace gpustrata::analysis
