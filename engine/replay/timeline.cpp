#include "engine/replay/timeline.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/replay/event_axis.h"
#include "engine/replay/range_extremes.h"
#include "engine/replay/stack_sweep.h"
#include "engine/replay/stack_tree.h"

namespace gpustrata::replay {

namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();
constexpr int32_t kOutside = -2;

}  // namespace

// What does not depend on the order of the stack.
struct Timeline::Levels {
  Levels(const Bands& source, Budget& budget)
      : bands(source),
        axis(budget),
        highest(Extreme::highest, budget),
        lowest(Extreme::lowest, budget),
        highest_reserved(Extreme::highest, budget) {}

  // The event whose state a column shows.
  [[nodiscard]] int32_t shown_event(EventRange range) const {
    if (!range.inside) return kOutside;
    if (range.empty()) return range.begin - 1;
    const int32_t event = highest.row(range.begin, range.end);
    const bool initial_is_higher = range.begin == 0 && bands.initial_level > bands.level_after(event);
    return initial_is_higher ? -1 : event;
  }
  // The same if only a block's life counted; kOutside if that does not touch the column.
  [[nodiscard]] int32_t shown_event_of_life(EventRange range, int32_t born, int32_t freed) const {
    const int32_t begin = std::max({range.begin, born, 0});
    const int32_t end = std::min(range.end, freed);
    if (begin < end) return highest.row(begin, end);
    return born < 0 && range.begin == 0 ? -1 : kOutside;
  }
  [[nodiscard]] int64_t lowest_level(EventRange range) const {
    return range.empty() ? bands.level_after(range.begin - 1) : lowest.value(range.begin, range.end);
  }
  // Highest value after an event of the range; of an empty one after the event that it shows, where -1 is the initial state.
  [[nodiscard]] int64_t highest_reserved_in(EventRange range, int32_t event) const {
    const int32_t first = range.empty() ? event : range.begin;
    const int32_t last = range.empty() ? event : range.end - 1;
    const StepSeries& reserved = bands.reserved;
    const auto steps_until = [&reserved](int32_t until) {
      return static_cast<int32_t>(std::upper_bound(reserved.event.begin(), reserved.event.end(), until) -
                                  reserved.event.begin());
    };
    const int32_t begin = steps_until(first);
    const int32_t end = steps_until(last);
    const int64_t at_first = begin == 0 ? reserved.initial : reserved.value[begin - 1];
    return begin == end ? at_first : std::max(at_first, highest_reserved.value(begin, end));
  }

  const Bands& bands;
  EventAxis axis;
  RangeExtremes highest;  // of bands.level
  RangeExtremes lowest;
  RangeExtremes highest_reserved;  // of the steps of bands.reserved
};

struct Timeline::Index {
  explicit Index(Budget& budget) : tree(budget), scratch(budget) {}

  // False if the budget refuses.
  [[nodiscard]] bool build(std::span<const int64_t> size, std::span<const int32_t> births,
                           std::span<const int32_t> frees) {
    born = births;
    freed = frees;
    return tree.build(size, born, freed) && scratch.reserve(tree);
  }

  std::unique_ptr<Levels> own;  // null: another timeline's
  const Levels* levels = nullptr;
  std::span<const int32_t> born, freed;  // in stack order
  std::span<const int32_t> groups;       // GroupedBands::first(); empty: stacked by age
  StackTree tree;
  StackSweep::Scratch scratch;
};

namespace {

[[nodiscard]] tl::unexpected<Error> no_room(const Bands& bands, const Budget& budget) {
  return fail(
      ErrorCode::limit_exceeded, -1,
      "The index for drawing {} events does not fit into memory: at least {} bytes in all would be needed, "
      "the limit is {}.",
      bands.events.count, std::max(budget.needed(), budget.used()), budget.limit());
}

}  // namespace

Timeline::Timeline(std::unique_ptr<Index> index) : index_(std::move(index)) {}
Timeline::Timeline(Timeline&&) noexcept = default;
Timeline& Timeline::operator=(Timeline&&) noexcept = default;
Timeline::~Timeline() = default;

Result<Timeline> Timeline::build(const model::Recording& recording, const Bands& bands) {
  Budget& budget = recording.budget;
  auto levels = std::make_unique<Levels>(bands, budget);
  if (!levels->axis.build(recording, bands.events, bands.clock) ||
      !levels->highest.build(bands.level.span()) || !levels->lowest.build(bands.level.span()) ||
      !levels->highest_reserved.build(bands.reserved.value.span()))
    return no_room(bands, budget);
  auto index = std::make_unique<Index>(budget);
  index->own = std::move(levels);
  index->levels = index->own.get();
  if (!index->build(bands.size.span(), bands.born.span(), bands.freed.span())) return no_room(bands, budget);
  return Timeline(std::move(index));
}

Result<Timeline> Timeline::restacked(const GroupedBands& bands, Budget& budget) const {
  auto index = std::make_unique<Index>(budget);
  index->levels = index_->levels;
  index->groups = bands.first();
  if (!index->build(bands.size(), bands.born(), bands.freed())) return no_room(index->levels->bands, budget);
  return Timeline(std::move(index));
}

int64_t Timeline::extent(Axis axis) const { return index_->levels->axis.extent(axis); }

int64_t Timeline::position(Axis axis, int32_t event) const {
  return index_->levels->axis.position(axis, event);
}

int32_t Timeline::event_at(Axis axis, int64_t position) const {
  if (position < 0) return -1;
  if (position >= extent(axis) - 1) return index_->levels->axis.event_count() - 1;
  return index_->levels->axis.range(axis, 0, 1, position + 1).end - 1;
}

void Timeline::draw(const ColumnGrid& columns, const RowGrid& rows, std::span<uint32_t> pixels,
                    const BandColours* colours) const {
  if (columns.count <= 0 || rows.count <= 0) return;
  const auto height = static_cast<size_t>(rows.count);
  if (pixels.size() / height < static_cast<size_t>(columns.count)) return;

  const RowThresholds thresholds(rows);
  StackSweep sweep(index_->tree, index_->scratch, thresholds.has_means ? colours : nullptr, index_->groups);
  ColumnCursor cursor(index_->levels->axis, columns);
  std::span<uint32_t> before;
  int32_t event_before = kOutside;
  for (size_t c = 0; c < static_cast<size_t>(columns.count); ++c) {
    const std::span<uint32_t> column = pixels.subspan(c * height, height);
    const int32_t event = index_->levels->shown_event(cursor.next());
    if (event == kOutside) {
      std::fill(column.begin(), column.end(), kNothing);
      continue;
    }
    if (event == event_before) {
      std::copy(before.begin(), before.end(), column.begin());
    } else {
      sweep.move_to(event);
      sweep.draw(thresholds, column, before);
    }
    event_before = event;
    before = column;
  }
}

LevelsIn Timeline::levels_in(const EventRange& range) const {
  const Levels& levels = *index_->levels;
  const int32_t event = levels.shown_event(range);
  return {event, levels.bands.level_after(event), levels.lowest_level(range),
          levels.highest_reserved_in(range, event)};
}

std::vector<EventRange> Timeline::ranges(const ColumnGrid& columns) const {
  std::vector<EventRange> ranges(static_cast<size_t>(std::max(columns.count, 0)));
  ColumnCursor cursor(index_->levels->axis, columns);
  for (EventRange& range : ranges) range = cursor.next();
  return ranges;
}

Curves Timeline::curves(const ColumnGrid& columns) const {
  const Bands& bands = index_->levels->bands;
  const auto count = static_cast<size_t>(std::max(columns.count, 0));
  Curves curves;
  curves.event.assign(count, kOutside);
  for (std::vector<double>* values : {&curves.highest, &curves.lowest, &curves.allocated, &curves.reserved}) {
    values->assign(count, kNoValue);
  }
  ColumnCursor cursor(index_->levels->axis, columns);
  for (size_t c = 0; c < count; ++c) {
    const EventRange range = cursor.next();
    const int32_t event = index_->levels->shown_event(range);
    curves.event[c] = event;
    if (event == kOutside) continue;
    const int64_t level = bands.level_after(event);
    curves.highest[c] = static_cast<double>(level);
    curves.lowest[c] = static_cast<double>(index_->levels->lowest_level(range));
    curves.allocated[c] = static_cast<double>(level - bands.pending.at(event));
    curves.reserved[c] = static_cast<double>(index_->levels->highest_reserved_in(range, event));
  }
  return curves;
}

int64_t Timeline::highest_level(const ColumnGrid& columns) const {
  const EventAxis& axis = index_->levels->axis;
  const EventRange range = axis.range(columns.axis, columns.first, columns.count, columns.width);
  if (!range.inside) return 0;
  int64_t highest = index_->levels->bands.level_after(index_->levels->shown_event(range));
  // Columns left of the first event of the range show the state before it.
  const bool starts_inside = columns.first > 0;
  if (starts_inside && axis.range(columns.axis, columns.first, 1, columns.width).empty()) {
    highest = std::max(highest, index_->levels->bands.level_after(range.begin - 1));
  }
  return highest;
}

int32_t Timeline::event_of_column(Axis axis, int64_t k, int64_t width) const {
  return index_->levels->shown_event(index_->levels->axis.range(axis, k, 1, width));
}

bool Timeline::live_at(int32_t event, Column<int32_t>& found, int32_t from, int32_t to) const {
  return index_->tree.live_at(event, from, std::min(to, index_->tree.block_count()), found);
}

int32_t Timeline::pick(int32_t event, double bytes) const {
  const Bands& bands = index_->levels->bands;
  if (event < -1 || event >= bands.events.count || !(bytes >= 0)) return -1;
  if (!(bytes < static_cast<double>(bands.level_after(event)))) return -1;
  return index_->tree.block_at(static_cast<int64_t>(bytes), event);
}

int64_t Timeline::offset_of(int32_t rank, int32_t event) const {
  return index_->tree.bytes_below(std::clamp(rank, 0, index_->tree.block_count()), std::max(event, -1));
}

std::vector<double> Timeline::outline(int32_t rank, const ColumnGrid& columns) const {
  const auto r = static_cast<size_t>(rank);
  const bool is_there = rank >= 0 && r < index_->born.size() && index_->born[r] < index_->freed[r];
  if (!is_there) return edge(0, 0, 0, columns);
  return edge(rank, index_->born[r], index_->freed[r], columns);
}

std::vector<double> Timeline::edge(int32_t rank, int32_t born, int32_t freed,
                                   const ColumnGrid& columns) const {
  std::vector<double> edge(static_cast<size_t>(std::max(columns.count, 0)), kNoValue);
  StackSweep sweep(index_->tree, index_->scratch);
  ColumnCursor cursor(index_->levels->axis, columns);
  for (double& bytes : edge) {
    const EventRange range = cursor.next();
    int32_t event = index_->levels->shown_event(range);
    if (event == kOutside) continue;
    if (event < born || event >= freed) event = index_->levels->shown_event_of_life(range, born, freed);
    if (event == kOutside) continue;
    sweep.move_to(event);
    bytes = static_cast<double>(sweep.bytes_below(rank));
  }
  return edge;
}

}  // namespace gpustrata::replay
