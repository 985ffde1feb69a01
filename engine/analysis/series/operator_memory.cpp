#include "engine/analysis/series/operator_memory.h"

#include <algorithm>
#include <charconv>

#include "engine/analysis/series/series_points.h"
#include "engine/base/saturating.h"
#include "engine/base/string_pool.h"

namespace gpustrata::analysis {

using model::RowRange;

namespace {

[[nodiscard]] Status no_room_for_operators() {
  return fail(ErrorCode::limit_exceeded, -1, "The operators do not fit into memory.");
}

// Without "_12" at its end.
[[nodiscard]] std::string_view without_count(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || digits + 1 == name.size() || name[digits] != '_') return name;
  return name.substr(0, digits);
}

[[nodiscard]] std::optional<OperatorLevel> highest(const model::Recording& recording, RowRange rows) {
  const model::PointTable& points = recording.points;
  std::optional<OperatorLevel> found;
  for (int32_t row = rows.first; row < rows.end(); ++row) {
    if (!found || points.value[row] > found->bytes)
      found = {points.value[row], points.time[row], points.label[row]};
  }
  return found;
}

void find_unused(OperatorMemory& memory, const model::Recording& recording, RowRange allocated,
                 RowRange reserved) {
  const model::PointTable& points = recording.points;
  int32_t other = reserved.first;
  for (int32_t row = allocated.first; row < allocated.end(); ++row) {
    while (other < reserved.end() && points.time[other] < points.time[row]) ++other;
    if (other == reserved.end()) break;
    if (points.time[other] != points.time[row]) continue;
    const int64_t bytes = saturated_difference(points.value[other], points.value[row]);
    if (memory.unused && bytes <= memory.unused->bytes) continue;
    memory.unused = {bytes, points.time[row], points.label[row]};
    memory.unused_of_reserved = points.value[other];
  }
}

[[nodiscard]] Status find_top(OperatorMemory& memory, const model::Recording& recording, RowRange rows,
                              size_t most) {
  const model::PointTable& points = recording.points;
  const size_t count = rows.count > 1 ? static_cast<size_t>(rows.count) - 1 : 0;
  if (!memory.top.reserve(count)) return no_room_for_operators();
  for (int32_t row = rows.first + 1; row < rows.end(); ++row) {
    const int64_t bytes = saturated_difference(points.value[row], points.value[row - 1]);
    if (!memory.top.push_back({points.time[row], points.label[row], bytes})) return no_room_for_operators();
  }
  const auto middle = memory.top.data() + std::min(most, count);
  std::partial_sort(memory.top.data(), middle, memory.top.data() + count,
                    [](const OperatorDelta& a, const OperatorDelta& b) {
                      return a.bytes != b.bytes ? a.bytes > b.bytes : a.op < b.op;
                    });
  memory.top.truncate(most);
  return {};
}

[[nodiscard]] Status sum_modules(OperatorMemory& memory, const model::Recording& recording, RowRange rows) {
  const model::PointTable& points = recording.points;
  StringPool known(recording.budget);
  for (int32_t row = rows.first; row < rows.end(); ++row) {
    const std::string_view module = parse_operator(recording.strings.view(points.label[row])).module;
    const StringId id = known.intern(module);
    if (id.is_none()) return no_room_for_operators();
    if (id.index() == memory.modules.size() && !memory.modules.push_back({module, 0, 0}))
      return no_room_for_operators();
    ModuleSum& sum = memory.modules[id];
    ++sum.ops;
    if (row > rows.first)
      add_saturated(sum.bytes, saturated_difference(points.value[row], points.value[row - 1]));
  }
  return {};
}

// Operators `first` to before `end`.
[[nodiscard]] Status add_phase(OperatorMemory& memory, const model::Recording& recording, RowRange rows,
                               std::string_view name, int64_t first, int64_t end) {
  const model::PointTable& points = recording.points;
  OperatorPhase phase;
  phase.name = name;
  for (int32_t row = rows.first; row < rows.end(); ++row) {
    const int64_t op = points.time[row];
    if (op < first || op >= end) continue;
    if (phase.ops++ == 0) phase.first_op = op;
    phase.last_op = op;
    if (row > rows.first)
      add_saturated(phase.bytes, saturated_difference(points.value[row], points.value[row - 1]));
    if (!phase.peak || points.value[row] > phase.peak->bytes)
      phase.peak = {points.value[row], op, points.label[row]};
  }
  return phase.ops == 0 || memory.phases.push_back(phase) ? Status() : no_room_for_operators();
}

[[nodiscard]] Status find_phases(OperatorMemory& memory, const model::Recording& recording, RowRange rows) {
  std::optional<int64_t> start, boundary;
  for (const OperatorMark& mark : memory.marks) {
    const std::string_view name = recording.strings.view(mark.name);
    if (name == "fw_start") start = mark.op;
    if (name == "fw_bw_boundary") boundary = mark.op;
  }
  if (!boundary) return {};
  if (Status added = add_phase(memory, recording, rows, "forward", start.value_or(0), *boundary); !added)
    return added;
  return add_phase(memory, recording, rows, "backward", *boundary, INT64_MAX);
}

}  // namespace

OperatorName parse_operator(std::string_view name) {
  constexpr std::string_view kForward = ".forward.";
  const size_t at = name.rfind(kForward);
  if (at != std::string_view::npos)
    return {name.substr(0, at), without_count(name.substr(at + kForward.size()))};
  if (name.starts_with('.')) name.remove_prefix(1);
  return {{}, without_count(name)};
}

const model::Part* find_operators(const model::Recording& recording) {
  for (const model::Part& part : recording.parts) {
    if (part.kind == model::PartKind::series && part.series_are == model::SeriesAre::operators) return &part;
  }
  return nullptr;
}

Result<OperatorMemory> operator_memory(const model::Recording& recording, const model::Part& part,
                                       size_t most) {
  OperatorMemory memory(recording.budget);
  const auto points = [&](std::string_view name) {
    return points_of(recording, find_series(recording, part, name));
  };
  const RowRange allocated = points("allocated");
  memory.ops = allocated.count;
  memory.peak = highest(recording, allocated);
  memory.active_peak = highest(recording, points("active"));
  memory.reserved_peak = highest(recording, points("reserved"));
  find_unused(memory, recording, allocated, points("reserved"));
  const RowRange marks = points("markers");
  for (int32_t row = marks.first; row < marks.end(); ++row) {
    if (!memory.marks.push_back({recording.points.label[row], recording.points.time[row]}))
      return tl::unexpected(no_room_for_operators().error());
  }
  const auto index = static_cast<int32_t>(&part - recording.parts.data());
  const RowRange extras = recording.extras_of(model::Owner::part, index);
  for (int32_t row = extras.first; row < extras.end(); ++row) {
    if (recording.strings.view(recording.extras.key[row]) != "num_alloc_retries") continue;
    const std::string_view text = recording.strings.view(recording.extras.value[row]);
    int64_t number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc())
      memory.retries = number;
  }
  for (const auto& step :
       {find_top(memory, recording, allocated, most), sum_modules(memory, recording, allocated),
        find_phases(memory, recording, allocated)}) {
    if (!step) return tl::unexpected(step.error());
  }
  return memory;
}

}  // namespace gpustrata::analysis
