#include "engine/replay/group_stack.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/replay/stack_sweep.h"

namespace gpustrata::replay {

namespace {

// Tells the number of each column inside the recording, with the sums of the state that it shows.
template <typename Tell>
void each_column(const Timeline& timeline, const GroupLevels& levels, const ColumnGrid& columns,
                 Tell&& tell) {
  GroupLevels::Walk walk(levels);
  for (int32_t c = 0; c < columns.count; ++c) {
    const int32_t event = timeline.event_of_column(columns.axis, columns.first + c, columns.width);
    if (event < -1) continue;
    walk.move_to(event);
    tell(static_cast<size_t>(c), walk.bytes());
  }
}

}  // namespace

void draw_groups(const Timeline& timeline, const GroupLevels& levels, const ColumnGrid& columns,
                 const RowGrid& rows, std::span<const uint32_t> value_of_group, std::span<uint32_t> pixels) {
  std::fill(pixels.begin(), pixels.end(), kNothing);
  if (columns.count <= 0 || rows.count <= 0) return;
  const auto height = static_cast<size_t>(rows.count);
  if (pixels.size() / height < static_cast<size_t>(columns.count)) return;
  const RowThresholds thresholds(rows);
  each_column(timeline, levels, columns, [&](size_t column, std::span<const int64_t> bytes) {
    uint32_t* const out = pixels.data() + column * height;
    auto row = static_cast<size_t>(thresholds.first);
    int64_t top = 0;
    for (size_t group = 0; group < bytes.size(); ++group) {
      top += bytes[group];
      while (thresholds.threshold[row] <= top) out[row++] = value_of_group[group];
    }
  });
}

GroupEdges group_edges(const Timeline& timeline, const GroupLevels& levels, size_t first, size_t end,
                       const ColumnGrid& columns) {
  const auto count = static_cast<size_t>(std::max(columns.count, 0));
  constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();
  GroupEdges edges{std::vector<double>(count, kNoValue), std::vector<double>(count, kNoValue)};
  each_column(timeline, levels, columns, [&](size_t column, std::span<const int64_t> bytes) {
    const auto sum = [&](size_t from, size_t to) {
      return std::accumulate(bytes.begin() + static_cast<ptrdiff_t>(from),
                             bytes.begin() + static_cast<ptrdiff_t>(to), int64_t{0});
    };
    const int64_t own = sum(first, end);
    if (own == 0) return;
    const int64_t below = sum(0, first);
    edges.lower[column] = static_cast<double>(below);
    edges.upper[column] = static_cast<double>(below + own);
  });
  return edges;
}

size_t group_at(std::span<const int64_t> levels, double bytes) {
  if (!(bytes >= 0)) return levels.size();
  int64_t top = 0;
  for (size_t group = 0; group < levels.size(); ++group) {
    top += levels[group];
    if (bytes < static_cast<double>(top)) return group;
  }
  return levels.size();
}

}  // namespace gpustrata::replay
