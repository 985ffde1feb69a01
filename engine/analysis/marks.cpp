#include "engine/analysis/marks.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/analysis/bounded_json.h"
#include "engine/base/units.h"

namespace memstrata::analysis {

using model::kNoTime;
using trace::Action;

namespace {

constexpr size_t kMostRegions = 2000, kMostMarkers = 2000;

struct Region {
  StringId name;
  int64_t from_us = kNoTime, to_us = kNoTime;
  int32_t from_event = 0, to_event = 0;
  bool cut_start = false, cut_end = false;
};

// One START or END, wherever it comes from.
struct Border {
  StringId name;
  int64_t time_us;
  int32_t event;
  bool starts;
};

class Regions {
 public:
  explicit Regions(Budget& budget) : found_(budget), next_open_(budget) {}

  // In order of time. False = no memory.
  [[nodiscard]] bool add(const Border& border) {
    if (border.starts) {
      if (!found_.push_back({border.name, border.time_us, kNoTime, border.event, -1, false, true}))
        return false;
      int32_t& innermost = open_.try_emplace(border.name.value, -1).first->second;
      if (!next_open_.push_back(innermost)) return false;
      innermost = static_cast<int32_t>(found_.size()) - 1;
      return true;
    }
    const auto open = open_.find(border.name.value);
    if (open == open_.end() || open->second < 0) {
      return found_.push_back({border.name, kNoTime, border.time_us, 0, border.event, true, false}) &&
             next_open_.push_back(-1);
    }
    Region& region = found_[static_cast<size_t>(open->second)];
    open->second = next_open_[static_cast<size_t>(open->second)];
    region.to_us = border.time_us;
    region.to_event = border.event;
    region.cut_end = false;
    return true;
  }
  [[nodiscard]] Column<Region>& finish(int32_t event_count) {
    for (Region& region : found_.span()) {
      if (region.cut_end) region.to_event = event_count;
    }
    return found_;
  }

 private:
  Column<Region> found_;
  Column<int32_t> next_open_;                  // per region: the open one around it that has its name
  std::unordered_map<int32_t, int32_t> open_;  // name -> innermost open region
};

[[nodiscard]] std::optional<int64_t> known(int64_t time) {
  return time == kNoTime ? std::nullopt : std::optional(time);
}

[[nodiscard]] bool collect_annotations(const model::Recording& recording, const model::Snapshot& snapshot,
                                       const replay::StateHistory& history, Regions& regions) {
  const model::AnnotationTable& table = recording.annotations;
  const model::RowRange events = history.rows.events;
  if (snapshot.annotations.count == 0) return true;
  Column<int64_t> clock(recording.budget);  // latest time so far
  if (!clock.reserve(static_cast<size_t>(events.count))) return false;
  int64_t latest = kNoTime;
  for (int32_t row = events.first; row < events.end(); ++row) {
    latest = std::max(latest, recording.events.time_us[static_cast<size_t>(row)]);
    if (!clock.push_back(latest)) return false;
  }
  for (int32_t row = snapshot.annotations.first; row < snapshot.annotations.end(); ++row) {
    const auto i = static_cast<size_t>(row);
    if (table.stage[i] == model::Stage::unknown) continue;
    if (table.device[i] != history.rows.device && history.rows.device != replay::kHostDevice) continue;
    const auto event =
        static_cast<int32_t>(std::lower_bound(clock.begin(), clock.end(), table.time_us[i]) - clock.begin());
    if (!regions.add({table.name[i], table.time_us[i], event, table.stage[i] == model::Stage::start}))
      return false;
  }
  return true;
}

// Files of mid 2024: one frame whose filename is the region's name and whose name is START or END.
[[nodiscard]] bool collect_user_defined(const model::Recording& recording,
                                        const replay::StateHistory& history, Regions& regions) {
  const model::EventTable& events = recording.events;
  for (int32_t event = 0; event < history.event_count(); ++event) {
    const auto row = static_cast<size_t>(history.rows.events.first + event);
    if (events.action[row] != Action::user_defined || events.stack[row].is_none()) continue;
    const int32_t leaf = recording.stacks.leaf(events.stack[row]);
    if (leaf < 0) continue;
    const trace::Frame& frame = recording.frames[recording.stacks.node(leaf).frame];
    const std::string_view stage = recording.strings.view(frame.name);
    if (stage != "START" && stage != "END") continue;
    if (!regions.add({frame.filename, events.time_us[row], event, stage == "START"})) return false;
  }
  return true;
}

void write_regions(JsonWriter& json, const model::Recording& recording, Column<Region>& regions) {
  const auto length = [](const Region& region) { return region.to_event - region.from_event; };
  const size_t shown = std::min(regions.size(), kMostRegions);
  Region* const begin = regions.data();
  std::partial_sort(begin, begin + shown, begin + regions.size(),
                    [&](const Region& a, const Region& b) { return length(a) > length(b); });
  std::sort(begin, begin + shown, [&](const Region& a, const Region& b) {
    if (a.from_event != b.from_event) return a.from_event < b.from_event;
    if (a.from_us != b.from_us) return a.from_us < b.from_us;
    return length(a) > length(b);
  });
  std::vector<const Region*> around;  // those that go on, outermost first
  json.key("regions");
  json.begin_array();
  for (size_t i = 0; i < shown; ++i) {
    const Region& region = regions[i];
    const auto is_over = [&](const Region* one) {
      if (one->to_event != region.from_event || one->to_us == kNoTime || region.from_us == kNoTime)
        return one->to_event <= region.from_event;
      return one->to_us <= region.from_us;
    };
    while (!around.empty() && is_over(around.back())) around.pop_back();
    json.begin_object();
    json.member("name", in_list(recording.strings.view(region.name)));
    json.member("from_event", region.from_event);
    json.member("to_event", region.to_event);
    json.member("from_us", known(region.from_us));
    json.member("to_us", known(region.to_us));
    json.member("depth", around.size());
    json.member("cut_start", region.cut_start);
    json.member("cut_end", region.cut_end);
    json.end_object();
    around.push_back(&region);
  }
  json.end_array();
  json.member("regions_left_out", regions.size() - shown);
}

void write_markers(JsonWriter& json, const model::Recording& recording, const replay::StateHistory& history) {
  const model::EventTable& events = recording.events;
  json.key("markers");
  json.begin_array();
  size_t found = 0;
  for (int32_t event = 0; event < history.event_count(); ++event) {
    const auto row = static_cast<size_t>(history.rows.events.first + event);
    const Action action = events.action[row];
    if (action != Action::oom && action != Action::snapshot && action != Action::annotate) continue;
    if (++found > kMostMarkers) continue;
    json.begin_object();
    json.member("kind", trace::name_of(action));
    json.member("event", event);
    json.member("time_us", known(events.time_us[row]));
    json.member("text", action == Action::oom ? "out of memory: " + size_text(events.size[row]) + " requested"
                        : action == Action::snapshot ? std::string("snapshot taken")
                                                     : in_list(recording.strings.view(events.metadata[row])));
    json.end_object();
  }
  json.end_array();
  json.member("markers_left_out", found - std::min(found, kMostMarkers));
}

}  // namespace

Result<std::string> marks_json(const model::Recording& recording, const model::Snapshot& snapshot,
                               const replay::StateHistory& history) {
  Regions regions(recording.budget);
  if (!collect_annotations(recording, snapshot, history, regions) ||
      !collect_user_defined(recording, history, regions)) {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the annotations of this recording");
  }
  JsonWriter json;
  json.begin_object();
  write_regions(json, recording, regions.finish(history.event_count()));
  write_markers(json, recording, history);
  json.end_object();
  return std::move(json).text();
}

}  // namespace memstrata::analysis
