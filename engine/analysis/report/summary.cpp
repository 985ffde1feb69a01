#include "engine/analysis/report/summary.h"

#include <algorithm>
#include <array>

#include "engine/analysis/stacks/no_stack_reasons.h"
#include "engine/base/saturating.h"
#include "engine/model/processor.h"

namespace gpustrata::analysis {

using model::BlockState;
using model::Diag;
using model::RowRange;

namespace {

void sum_final_state(DeviceSummary& sums, const model::Recording& recording, const model::Part& part) {
  if (part.capabilities.profiled) return;
  const model::SegmentTable& segments = recording.segments;
  int64_t of_device = 0, blocks = 0, reserved = 0, allocated = 0, active = 0;
  for (int32_t row = part.segments.first; row < part.segments.end(); ++row) {
    if (segments.device[row] != sums.device) continue;
    ++of_device;
    blocks += segments.blocks[row].count;
    add_saturated(reserved, segments.total_size[row]);
    for (int32_t block = segments.blocks[row].first; block < segments.blocks[row].end(); ++block) {
      const BlockState state = recording.blocks.state[block];
      const int64_t size = recording.blocks.size[block];
      if (state == BlockState::active_allocated) add_saturated(allocated, size);
      if (state == BlockState::active_allocated || state == BlockState::active_pending_free)
        add_saturated(active, size);
    }
  }
  sums.segments = of_device;
  sums.blocks = blocks;
  sums.reserved_bytes = reserved;
  sums.allocated_bytes = allocated;
  sums.active_bytes = active;
}

void count_actions(DeviceSummary& sums, const model::Recording& recording, RowRange events) {
  std::array<int64_t, 256> counts{};
  std::vector<trace::Action> order;
  for (int32_t row = events.first; row < events.end(); ++row) {
    const trace::Action action = recording.events.action[row];
    if (counts[static_cast<size_t>(action)]++ == 0) order.push_back(action);
  }
  for (const trace::Action action : order) {
    sums.actions.emplace_back(recording.action_name(action), counts[static_cast<size_t>(action)]);
  }
}

[[nodiscard]] Status count_stacks(DeviceSummary& sums, const model::Recording& recording, RowRange events) {
  Column<uint8_t> seen(recording.budget);
  if (!seen.resize(recording.stacks.size(), 0)) {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to count {} stacks.",
                recording.stacks.size());
  }
  for (int32_t row = events.first; row < events.end(); ++row) {
    const StackId stack = recording.events.stack[row];
    if (stack.is_none() || seen[stack.index()] != 0) continue;
    seen[stack.index()] = 1;
    ++sums.distinct_stacks;
  }
  return {};
}

void find_times(DeviceSummary& sums, const model::Recording& recording, RowRange events,
                const model::Clock& clock) {
  for (int32_t row = events.first; row < events.end(); ++row) {
    const int64_t time = recording.events.time[row];
    if (time == model::kNoTime) continue;
    const auto time_us = clock.microseconds(time);
    if (!sums.first_time_us) sums.first_time_us = time_us;
    sums.last_time_us = time_us;
  }
}

[[nodiscard]] std::optional<OutOfMemory> find_oom(const model::Recording& recording, RowRange events) {
  OutOfMemory last;
  for (int32_t event = 0; event < events.count; ++event) {
    const auto row = static_cast<size_t>(events.first + event);
    if (recording.events.action[row] != trace::Action::oom) continue;
    last = {last.count + 1, event, recording.events.size[row], model::device_free(recording.events, row)};
  }
  return last.count > 0 ? std::optional(last) : std::nullopt;
}

[[nodiscard]] int64_t count_out_of_order(const model::Recording& recording, RowRange events) {
  int64_t latest = INT64_MIN;
  int64_t earlier_than_before = 0;
  for (int32_t row = events.first; row < events.end(); ++row) {
    const int64_t time = recording.events.time[row];
    if (time == model::kNoTime) continue;
    earlier_than_before += time < latest ? 1 : 0;
    latest = std::max(latest, time);
  }
  return earlier_than_before;
}

[[nodiscard]] Result<DeviceSummary> summarize_device(const model::Recording& recording,
                                                     const model::Part& part, int32_t device,
                                                     model::Diagnostics& diagnostics) {
  DeviceSummary sums;
  sums.device = device;
  sums.is_processor = model::is_of_processor(part);
  const RowRange events = part.events_of(device);
  sums.events = events.count;
  const auto lifetimes = replay::find_block_lives(recording, part, device);
  if (!lifetimes) return tl::unexpected(lifetimes.error());
  add_device_diagnostics(diagnostics, recording, *lifetimes);
  sums.initial_requested_bytes = lifetimes->initial_level;
  sums.final_requested_bytes = lifetimes->final_level;
  sums.peak_requested_bytes = lifetimes->peak_level;
  sums.peak_event = lifetimes->peak_event;
  if (lifetimes->has_reserved) {
    const std::span<const int64_t> values = lifetimes->reserved.value.span();
    const int64_t initial = lifetimes->reserved.initial;
    sums.reserved_peak_bytes =
        values.empty() ? initial : std::max(initial, *std::max_element(values.begin(), values.end()));
    sums.reserved_bytes =
        lifetimes->reserved.at(events.count - 1);  // replaced by the final state where there is one
  }
  sums.oom = find_oom(recording, events);
  count_actions(sums, recording, events);
  find_times(sums, recording, events, part.clock);
  sum_final_state(sums, recording, part);
  sums.blocks_have_frames = any_block_has_frames(recording, part, device);
  if (Status status = count_stacks(sums, recording, events); !status) return tl::unexpected(status.error());
  return sums;
}

}  // namespace

void add_device_diagnostics(model::Diagnostics& diagnostics, const model::Recording& recording,
                            const replay::Bands& bands) {
  diagnostics.add_all(bands.diagnostics);
  const int64_t out_of_order = count_out_of_order(recording, bands.events);
  if (out_of_order > 0) diagnostics.add_many(Diag::time_not_monotonic, out_of_order);
}

std::vector<Finding> findings(const model::Diagnostics& diagnostics) {
  std::vector<Finding> all;
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const model::Diagnostics::Finding& found = diagnostics[static_cast<Diag>(i)];
    if (found.count == 0) continue;
    const model::DiagKind& kind = model::kind_of(static_cast<Diag>(i));
    Finding& finding = all.emplace_back();
    finding.diag = static_cast<Diag>(i);
    finding.name = kind.name;
    finding.severity = model::name_of(kind.severity);
    finding.count = found.count;
    if (found.first_offset >= 0) finding.first_offset = found.first_offset;
    finding.first_in = found.place.inside;
    if (!finding.first_in.empty() && found.place.file_offset >= 0)
      finding.file_offset = found.place.file_offset;
    finding.detail = found.detail;
  }
  return all;
}

Result<Summary> summarize(const model::Recording& recording) {
  model::Diagnostics diagnostics = recording.diagnostics;
  Summary summary;
  summary.format = recording.format;
  summary.bytes = recording.input_bytes;
  for (const model::Part& part : recording.parts) {
    if (part.kind == model::PartKind::series) {
      summary.series.push_back(summarize_series(recording, part));
      continue;
    }
    if (part.kind == model::PartKind::fleet) {
      ++summary.fleets;
      continue;
    }
    SnapshotSummary& sums = summary.snapshots.emplace_back();
    sums.name = part.name;
    for (const int32_t device : part.devices(recording.segments)) {
      auto device_sums = summarize_device(recording, part, device, diagnostics);
      if (!device_sums) return tl::unexpected(device_sums.error());
      sums.devices.push_back(std::move(*device_sums));
    }
    sums.has_host = part.has_host;
    sums.host_segments = part.host_segments.count;
    sums.host_events = part.host_events.count;
    const std::string_view settings = recording.strings.view(part.settings_json);
    if (settings.starts_with('{')) sums.settings_json = settings;
    sums.annotations = part.annotations.count;
  }
  summary.diagnostics = findings(diagnostics);
  return summary;
}

}  // namespace gpustrata::analysis
