// What surrounds a comparison: what makes two recordings hard to compare.
#include <algorithm>
#include <utility>

#include "engine/analysis/compare/compare.h"
#include "engine/analysis/device/event_context.h"
#include "engine/analysis/stacks/no_stack_reasons.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] bool has_history(const ComparedDevice& one) {
  return analysis::has_history(one.recording, one.history.rows.events);
}

// Anything that is alive.
[[nodiscard]] bool has_stacks(const ComparedDevice& one) {
  return std::any_of(one.top.groups.begin(), one.top.groups.end(), [](const TopGroup& group) {
    return !group.stack.is_none() || group.who.kind != Who::Kind::nothing;
  });
}

// Any event or block of the device, whatever is alive.
[[nodiscard]] bool has_any_stack(const ComparedDevice& one) {
  return stacks_there(one.recording, one.history.rows.events).any_frames ||
         any_block_has_frames(one.recording, one.part, one.history.rows.device);
}

[[nodiscard]] std::string_view settings_of(const ComparedDevice& one) {
  return one.recording.strings.view(one.part.settings_json);
}

[[nodiscard]] std::vector<Obstacle> find_obstacles(const ComparedDevice& before, const ComparedDevice& after,
                                                   bool of_one_run) {
  using Kind = Obstacle::Kind;
  std::vector<Obstacle> found;
  if (has_history(before) != has_history(after)) found.push_back({Kind::history, has_history(before)});
  const bool has = has_stacks(before);
  if (has != has_stacks(after) && before.top.blocks > 0 && after.top.blocks > 0)
    found.push_back({has_any_stack(has ? after : before) ? Kind::stacks_of_live : Kind::stacks, has});
  const std::string_view one = settings_of(before), other = settings_of(after);
  if (one != other)
    found.push_back({one.empty() || other.empty() ? Kind::untold_settings : Kind::other_settings});
  if (!of_one_run) found.push_back({Kind::two_runs});
  return found;
}

}  // namespace

Result<DeviceComparison> compare_devices(const ComparedDevice& before, const ComparedDevice& after,
                                         bool of_one_run, size_t limit) {
  std::optional<ComparedSegments> segments;
  if (of_one_run) {
    auto found = compare_segments(before.memory.segments(), after.memory.segments(), after.recording.budget);
    if (!found) return tl::unexpected(found.error());
    segments = std::move(*found);
  }
  auto groups = compare_groups(before.side(), after.side(), limit);
  if (!groups) return tl::unexpected(groups.error());
  std::vector<Obstacle> obstacles = find_obstacles(before, after, of_one_run);
  return DeviceComparison{before, after, std::move(*groups), std::move(segments), std::move(obstacles)};
}

}  // namespace gpustrata::analysis
