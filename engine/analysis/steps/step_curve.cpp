#include "engine/analysis/steps/step_curve.h"

#include <algorithm>
#include <limits>

namespace gpustrata::analysis {

StepCurve step_curve(const replay::BlockLives& lifetimes, std::span<const Stretch> stretches, int32_t count,
                     int32_t columns_each) {
  const size_t columns = static_cast<size_t>(count) * static_cast<size_t>(columns_each);
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  StepCurve found{std::vector<int32_t>(columns, -2), std::vector<double>(columns, kNothing),
                  std::vector<double>(columns, kNothing)};
  const replay::StepSeries& reserved = lifetimes.reserved;
  size_t change = 0;  // of `reserved`: the first one after the events that were looked at
  const size_t shown = std::min(static_cast<size_t>(count), stretches.size());
  for (size_t stretch = 0; stretch < shown; ++stretch) {
    const int64_t begin = stretches[stretch].begin, end = stretches[stretch].end;
    for (int32_t column = 0; column < columns_each; ++column) {
      const auto first = static_cast<int32_t>(begin + (end - begin) * column / columns_each);
      const auto until = static_cast<int32_t>(begin + (end - begin) * (column + 1) / columns_each);
      int32_t highest = std::max(first - (until > first ? 0 : 1), -1);
      for (int32_t event = first; event < until; ++event) {
        if (lifetimes.level_after(event) > lifetimes.level_after(highest)) highest = event;
      }
      const int32_t start = until > first ? first : highest;
      while (change < reserved.event.size() && reserved.event[change] <= start) ++change;
      int64_t most = change == 0 ? reserved.initial : reserved.value[change - 1];
      while (change < reserved.event.size() && reserved.event[change] < until)
        most = std::max(most, reserved.value[change++]);
      const size_t at = stretch * static_cast<size_t>(columns_each) + static_cast<size_t>(column);
      found.event[at] = highest;
      found.level[at] = static_cast<double>(lifetimes.level_after(highest));
      found.reserved[at] = static_cast<double>(most);
    }
  }
  return found;
}

std::vector<Stretch> stretches_of(const Steps& steps, int32_t most) {
  std::vector<Stretch> stretches;
  for (int32_t step = 0; step < std::min(most, steps.count()); ++step)
    stretches.push_back({steps.begin[step], step + 1 < steps.count() ? steps.begin[step + 1] : steps.end});
  return stretches;
}

std::vector<Stretch> stretches_of(const model::Recording& recording, std::span<const Region> regions,
                                  std::string_view name, int32_t most) {
  std::vector<Stretch> stretches;
  for (const Region& region : regions) {
    if (region.from_event >= region.to_event || recording.strings.view(region.name) != name) continue;
    stretches.push_back({region.from_event, region.to_event});
  }
  std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  size_t kept = 0;
  for (const Stretch& one : stretches) {
    if (kept < static_cast<size_t>(most) && (kept == 0 || one.begin >= stretches[kept - 1].end))
      stretches[kept++] = one;
  }
  stretches.resize(kept);
  return stretches;
}

}  // namespace gpustrata::analysis
