#include "engine/analysis/report/overview.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/analysis/device/event_context.h"
#include "engine/analysis/stacks/no_stack_reasons.h"
#include "engine/base/saturating.h"
#include "engine/io/readers/trace/trace_matching.h"
#include "engine/model/processor.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] size_t row_of(const replay::BlockLives& lifetimes, int32_t event) {
  return static_cast<size_t>(lifetimes.events.first + event);
}

[[nodiscard]] std::optional<int64_t> time_of(const model::Recording& recording,
                                             const replay::BlockLives& lifetimes, int32_t event) {
  if (event < 0) return std::nullopt;
  return lifetimes.clock.microseconds(recording.events.time[row_of(lifetimes, event)]);
}

[[nodiscard]] Use use_at(const replay::BlockLives& lifetimes, int32_t event) {
  std::optional<int64_t> reserved;
  if (lifetimes.has_reserved) reserved = std::max<int64_t>(lifetimes.reserved.at(event), 0);
  return {event, reserved, lifetimes.level_after(event)};
}

void find_out_of_memory(Overview& found, const model::Recording& recording,
                        const replay::BlockLives& lifetimes) {
  const model::EventTable& events = recording.events;
  for (int32_t event = 0; event < lifetimes.events.count; ++event) {
    const size_t row = row_of(lifetimes, event);
    if (events.action[row] != trace::Action::oom) continue;
    ++found.out_of_memory_events;
    if (found.out_of_memory) continue;
    found.out_of_memory = OutOfMemoryEvent{event, time_of(recording, lifetimes, event), events.size[row],
                                           model::device_free(events, row)};
  }
}

// A segment comes before the block that it is for: right after its event its memory would count as cached.
[[nodiscard]] Use highest_reserved(const replay::BlockLives& lifetimes) {
  const auto& reserved = lifetimes.reserved;
  int64_t most = reserved.initial;
  for (const int64_t value : reserved.value) most = std::max(most, value);
  std::optional<int32_t> fullest;
  const auto look_at = [&](int64_t value, int32_t first, int32_t end) {
    if (value != most) return;
    for (int32_t event = first; event < end; ++event) {
      if (!fullest || lifetimes.level_after(event) > lifetimes.level_after(*fullest)) fullest = event;
    }
  };
  const size_t changes = reserved.value.size();
  look_at(reserved.initial, -1, changes > 0 ? reserved.event[0] : lifetimes.events.count);
  for (size_t i = 0; i < changes; ++i)
    look_at(reserved.value[i], reserved.event[i],
            i + 1 < changes ? reserved.event[i + 1] : lifetimes.events.count);
  Use use = use_at(lifetimes, fullest.value_or(-1));
  // Events and segments contradict each other: what was reserved is not known.
  if (use.reserved && *use.reserved < use.requested) use.reserved.reset();
  return use;
}

void find_from_before(Overview& found, const replay::BlockLives& lifetimes) {
  FromBefore before;
  const auto add = [&](int64_t& bytes, size_t r, int32_t event) {
    if (event < lifetimes.freed[r]) add_saturated(bytes, lifetimes.size[r]);
  };
  for (int32_t rank = 0; rank < lifetimes.from_start; ++rank) {
    const auto r = static_cast<size_t>(rank);
    add(before.bytes_at_start, r, -1);
    add(before.bytes_at_peak, r, lifetimes.peak_event);
    add(before.bytes_at_end, r, lifetimes.events.count - 1);
    ++before.blocks;
  }
  if (before.blocks > 0 && found.events > 0) found.from_before = before;
}

// As max_entries is usually given: 100000, 65536; PyTorch 2.0 keeps one event unless it is told to keep more.
[[nodiscard]] bool is_round(int32_t count) {
  return count == 1 || (count >= 1000 && (count % 1000 == 0 || (count & (count - 1)) == 0));
}

// The settings of an estimate begin with what it is.
[[nodiscard]] bool is_estimate(const model::Recording& recording, const model::Part& part) {
  constexpr std::string_view kMark = "{\"gpustrata_estimate\":";
  return recording.strings.view(part.settings_json).substr(0, kMark.size()) == kMark;
}

// A block that is there from the start was recorded if the stack of its allocation is known: by a history of which the
// file does not have that event any more.
[[nodiscard]] bool was_recorded_before(const model::Recording& recording,
                                       const replay::BlockLives& lifetimes) {
  // Of a damaged file the events may be in what is missing; a recorder may have been told to leave out all of a kind.
  if (recording.diagnostics.incomplete() || lifetimes.count() == lifetimes.from_start) return false;
  for (int32_t rank = 0; rank < lifetimes.from_start; ++rank) {
    const int32_t row = lifetimes.source[rank];
    if (row < 0) continue;
    const StackId stack = recording.blocks.stack[row];
    if (!stack.is_none() && recording.stacks.leaf(stack) >= 0) return true;
  }
  return false;
}

void find_missing(Overview& found, const model::Recording& recording, const model::Part& part,
                  const replay::BlockLives& lifetimes) {
  if (found.events == 0) {
    // Of a damaged file it may be what is lost.
    if (!recording.diagnostics.incomplete()) found.missing.push_back({NotRecorded::history});
    return;
  }
  const StacksThere stacks = stacks_there(recording, lifetimes.events);
  if (!stacks.any_frames && !any_block_has_frames(recording, part, lifetimes.device))
    found.missing.push_back({stacks.any ? NotRecorded::frames : NotRecorded::stacks});
  bool has_times = false;
  for (int32_t event = 0; event < lifetimes.events.count && !has_times; ++event)
    has_times = time_of(recording, lifetimes, event).has_value();
  if (!has_times) found.missing.push_back({NotRecorded::times});
  const auto is_made_up = [&](int32_t event) {
    return io::traces::is_made_up(recording.events.address[row_of(lifetimes, event)]);
  };
  for (int32_t event = 0; lifetimes.profiled && event < lifetimes.events.count; ++event) {
    if (!is_made_up(event)) continue;
    found.missing.push_back({NotRecorded::addresses});
    break;
  }
  const model::DeviceTrace* trace = part.trace_of(lifetimes.device);
  const std::optional<bool> lost = trace == nullptr ? std::nullopt : trace->lost_oldest;
  const bool may_be_lost = !lifetimes.profiled && is_round(lifetimes.events.count) &&
                           (lifetimes.events.count > 1 || found.from_before);
  const bool is_recorded = !lifetimes.profiled && !lost && was_recorded_before(recording, lifetimes);
  if (lost.value_or(may_be_lost || is_recorded))
    found.missing.push_back(
        {.what = NotRecorded::oldest_events, .is_sure = lost.has_value(), .has_stacks = is_recorded});
  if (part.is_open) found.missing.push_back({NotRecorded::end});
  if (is_estimate(recording, part)) found.missing.push_back({NotRecorded::device});
}

[[nodiscard]] int64_t bytes_without_stack(const Top& lines) {
  int64_t bytes = 0;
  for (const TopGroup& group : lines.groups) {
    if (group.who.kind == Who::Kind::nothing) bytes += group.bytes;
  }
  return bytes;
}

}  // namespace

Result<Overview> find_overview(const model::Recording& recording, const model::Part& part,
                               const replay::BlockLives& lifetimes, const Keys* lines) {
  Overview found(recording.budget);
  found.device = lifetimes.device;
  found.is_processor = model::is_of_processor(part);
  found.events = has_history(recording, lifetimes.events) ? lifetimes.events.count : 0;
  find_out_of_memory(found, recording, lifetimes);
  found.peak_bytes = lifetimes.peak_level;
  found.peak_event = lifetimes.peak_event;
  found.peak_time_us = time_of(recording, lifetimes, lifetimes.peak_event);
  auto peak_lines = find_top(recording, part, lifetimes, When::alive(lifetimes.peak_event), By::line,
                             kMostPeakLines, {}, lines);
  if (!peak_lines) return tl::unexpected(peak_lines.error());
  found.peak_lines = std::move(*peak_lines);
  found.at_peak = use_at(lifetimes, lifetimes.peak_event);
  if (lifetimes.has_reserved && found.events > 0) found.reserved_at_start = lifetimes.reserved.initial;
  found.at_end = use_at(lifetimes, lifetimes.events.count - 1);
  found.highest_reserved = highest_reserved(lifetimes);
  // Of a damaged file, what is missing would say of some blocks how old they are.
  const bool ages_are_known = !recording.diagnostics.incomplete();
  if (ages_are_known) find_from_before(found, lifetimes);
  find_missing(found, recording, part, lifetimes);
  const bool has_stacks = found.events > 0 && !found.lacks(NotRecorded::history) &&
                          !found.lacks(NotRecorded::stacks) && !found.lacks(NotRecorded::frames);
  const int64_t bytes = has_stacks && ages_are_known ? bytes_without_stack(found.peak_lines) : 0;
  if (bytes == 0 || bytes < found.peak_bytes / 200) return found;
  When older = When::alive(lifetimes.peak_event);
  older.born_until = -1;
  auto older_lines = find_top(recording, part, lifetimes, older, By::line, kAllGroups, {}, lines);
  if (!older_lines) return tl::unexpected(older_lines.error());
  found.missing.push_back({NotRecorded::some_stacks, bytes, bytes_without_stack(*older_lines)});
  return found;
}

}  // namespace gpustrata::analysis
