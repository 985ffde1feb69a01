#include "engine/analysis/step_curve.h"

#include <algorithm>
#include <limits>

namespace memstrata::analysis {

StepCurve step_curve(const replay::BlockLives& lifetimes, const Steps& steps, int32_t count,
                     int32_t columns_per_step) {
  const size_t columns = static_cast<size_t>(count) * static_cast<size_t>(columns_per_step);
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  StepCurve found{std::vector<int32_t>(columns, -2), std::vector<double>(columns, kNothing),
                  std::vector<double>(columns, kNothing)};
  const replay::StepSeries& reserved = lifetimes.reserved;
  size_t change = 0;  // of `reserved`: the first one after the events that were looked at
  for (int32_t step = 0; step < std::min(count, steps.count()); ++step) {
    const int64_t begin = steps.begin[static_cast<size_t>(step)];
    const int64_t end = step + 1 < steps.count() ? steps.begin[static_cast<size_t>(step) + 1] : steps.end;
    for (int32_t column = 0; column < columns_per_step; ++column) {
      const auto first = static_cast<int32_t>(begin + (end - begin) * column / columns_per_step);
      const auto until = static_cast<int32_t>(begin + (end - begin) * (column + 1) / columns_per_step);
      int32_t highest = std::max(first - (until > first ? 0 : 1), -1);
      for (int32_t event = first; event < until; ++event) {
        if (lifetimes.level_after(event) > lifetimes.level_after(highest)) highest = event;
      }
      while (change < reserved.event.size() && reserved.event[change] <= highest) ++change;
      int64_t most = change == 0 ? reserved.initial : reserved.value[change - 1];
      while (change < reserved.event.size() && reserved.event[change] < until)
        most = std::max(most, reserved.value[change++]);
      const size_t at =
          static_cast<size_t>(step) * static_cast<size_t>(columns_per_step) + static_cast<size_t>(column);
      found.event[at] = highest;
      found.level[at] = static_cast<double>(lifetimes.level_after(highest));
      found.reserved[at] = static_cast<double>(most);
    }
  }
  return found;
}

}  // namespace memstrata::analysis
