#include "engine/analysis/summary.h"

#include <algorithm>
#include <array>

#include "engine/base/utf8.h"

namespace memstrata::analysis {

using model::BlockState;
using model::Diag;
using model::RowRange;

namespace {

constexpr size_t kLongestAction = 200;  // bytes of an unknown action's name that are shown

// Saturates: sizes of a hostile file may not overflow.
void add(int64_t& total, int64_t bytes) {
  if (__builtin_add_overflow(total, bytes, &total)) total = INT64_MAX;
}

void sum_final_state(DeviceSummary& sums, const model::Recording& recording,
                     const model::Part& part) {
  const model::SegmentTable& segments = recording.segments;
  for (int32_t row = part.segments.first; row < part.segments.end(); ++row) {
    const auto i = static_cast<size_t>(row);
    if (segments.device[i] != sums.device) continue;
    ++sums.segments;
    sums.blocks += segments.blocks[i].count;
    add(sums.reserved_bytes, segments.total_size[i]);
    for (int32_t block = segments.blocks[i].first; block < segments.blocks[i].end(); ++block) {
      const BlockState state = recording.blocks.state[static_cast<size_t>(block)];
      const int64_t size = recording.blocks.size[static_cast<size_t>(block)];
      if (state == BlockState::active_allocated) add(sums.allocated_bytes, size);
      if (state == BlockState::active_allocated || state == BlockState::active_pending_free)
        add(sums.active_bytes, size);
    }
  }
}

void count_actions(DeviceSummary& sums, const model::Recording& recording, RowRange events) {
  std::array<int64_t, 256> counts{};
  std::vector<trace::Action> order;
  for (int32_t row = events.first; row < events.end(); ++row) {
    const trace::Action action = recording.events.action[static_cast<size_t>(row)];
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
    const StackId stack = recording.events.stack[static_cast<size_t>(row)];
    if (stack.is_none() || seen[stack.index()] != 0) continue;
    seen[stack.index()] = 1;
    ++sums.distinct_stacks;
  }
  return {};
}

void find_times(DeviceSummary& sums, const model::Recording& recording, RowRange events) {
  for (int32_t row = events.first; row < events.end(); ++row) {
    const int64_t time = recording.events.time[static_cast<size_t>(row)];
    if (time == model::kNoTime) continue;
    if (!sums.first_time_us) sums.first_time_us = time;
    sums.last_time_us = time;
  }
}

[[nodiscard]] std::optional<OutOfMemory> find_oom(const model::Recording& recording, RowRange events) {
  OutOfMemory last;
  for (int32_t event = 0; event < events.count; ++event) {
    const auto row = static_cast<size_t>(events.first + event);
    if (recording.events.action[row] != trace::Action::oom) continue;
    last = {last.count + 1, event, recording.events.size[row],
            static_cast<int64_t>(std::min<uint64_t>(recording.events.address[row], INT64_MAX))};
  }
  return last.count > 0 ? std::optional(last) : std::nullopt;
}

[[nodiscard]] int64_t count_out_of_order(const model::Recording& recording, RowRange events) {
  int64_t latest = INT64_MIN;
  int64_t earlier_than_before = 0;
  for (int32_t row = events.first; row < events.end(); ++row) {
    const int64_t time = recording.events.time[static_cast<size_t>(row)];
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
  const RowRange events = part.events_of(device);
  sums.events = events.count;
  const auto lifetimes = replay::find_block_lives(recording, part, device);
  if (!lifetimes) return tl::unexpected(lifetimes.error());
  add_device_diagnostics(diagnostics, recording, *lifetimes);
  sums.initial_requested_bytes = lifetimes->initial_level;
  sums.final_requested_bytes = lifetimes->final_level;
  sums.peak_requested_bytes = lifetimes->peak_level;
  sums.peak_event = lifetimes->peak_event;
  sums.reserved_peak_bytes = lifetimes->reserved.initial;
  for (const int64_t bytes : lifetimes->reserved.value)
    sums.reserved_peak_bytes = std::max(sums.reserved_peak_bytes, bytes);
  sums.oom = find_oom(recording, events);
  count_actions(sums, recording, events);
  find_times(sums, recording, events);
  sum_final_state(sums, recording, part);
  if (Status status = count_stacks(sums, recording, events); !status) return tl::unexpected(status.error());
  return sums;
}

void write_device(JsonWriter& json, const DeviceSummary& sums) {
  json.begin_object();
  json.member("device", sums.device);
  json.member("events", sums.events);
  json.key("actions");
  json.begin_object();
  for (const auto& [name, count] : sums.actions) json.member(utf8::cut(name, kLongestAction), count);
  json.end_object();
  json.member("segments", sums.segments);
  json.member("blocks", sums.blocks);
  json.member("reserved_bytes", sums.reserved_bytes);
  json.member("allocated_bytes", sums.allocated_bytes);
  json.member("active_bytes", sums.active_bytes);
  json.member("initial_requested_bytes", sums.initial_requested_bytes);
  json.member("final_requested_bytes", sums.final_requested_bytes);
  json.key("peak");
  json.begin_object();
  json.member("requested_bytes", sums.peak_requested_bytes);
  json.member("event", sums.peak_event);
  json.end_object();
  if (sums.oom) {
    json.key("oom");
    json.begin_object();
    json.member("count", sums.oom->count);
    json.member("event", sums.oom->event);
    json.member("requested_bytes", sums.oom->requested_bytes);
    json.member("device_free_bytes", sums.oom->device_free_bytes);
    json.end_object();
  }
  json.member("distinct_stacks", sums.distinct_stacks);
  json.member("first_time_us", sums.first_time_us);
  json.member("last_time_us", sums.last_time_us);
  json.end_object();
}

void write_snapshot(JsonWriter& json, const SnapshotSummary& snapshot) {
  json.begin_object();
  if (!snapshot.name.empty()) json.member("name", snapshot.name);
  json.key("devices");
  json.begin_array();
  for (const DeviceSummary& device : snapshot.devices) write_device(json, device);
  json.end_array();
  json.key("host");
  if (snapshot.has_host) {
    json.begin_object();
    json.member("segments", snapshot.host_segments);
    json.member("events", snapshot.host_events);
    json.end_object();
  } else {
    json.null();
  }
  json.key("settings");
  json.raw(snapshot.settings_json);
  json.member("annotations", snapshot.annotations);
  json.end_object();
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
    finding.name = kind.name;
    finding.severity = model::name_of(kind.severity);
    finding.count = found.count;
    if (found.first_offset >= 0) finding.first_offset = found.first_offset;
    finding.first_in = found.place.inside;
    if (!finding.first_in.empty() && found.place.file_offset >= 0)
      finding.file_offset = found.place.file_offset;
    finding.text = kind.text;
    if (!found.detail.empty()) finding.text += " (first: " + found.detail + ")";
  }
  return all;
}

void write_findings(JsonWriter& json, std::span<const Finding> findings) {
  json.begin_array();
  for (const Finding& finding : findings) {
    json.begin_object();
    json.member("name", finding.name);
    json.member("severity", finding.severity);
    json.member("count", finding.count);
    json.member("first_offset", finding.first_offset);
    if (!finding.first_in.empty()) {
      json.member("first_in", std::string_view(finding.first_in));
      json.member("file_offset", finding.file_offset);
    }
    json.member("text", finding.text);
    json.end_object();
  }
  json.end_array();
}

Result<Summary> summarize(const model::Recording& recording) {
  model::Diagnostics diagnostics = recording.diagnostics;
  Summary summary;
  summary.format = recording.format;
  summary.bytes = recording.input_bytes;
  for (const model::Part& part : recording.parts) {
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

std::string summary_json(const Summary& summary, std::string_view file) {
  JsonWriter json;
  json.begin_object();
  json.member("file", file);
  json.member("format", summary.format);
  json.member("bytes", summary.bytes);
  json.key("snapshots");
  json.begin_array();
  for (const SnapshotSummary& snapshot : summary.snapshots) write_snapshot(json, snapshot);
  json.end_array();
  json.key("diagnostics");
  write_findings(json, summary.diagnostics);
  json.end_object();
  return std::move(json).text();
}

Result<std::string> summary_json(const model::Recording& recording, std::string_view file) {
  const auto summary = summarize(recording);
  if (!summary) return tl::unexpected(summary.error());
  return summary_json(*summary, file);
}

std::string error_json(const Error& error, std::string_view file) {
  return error_json(name_of(error.code), error.message, error.offset, error.inside, file);
}

std::string error_json(std::string_view code, std::string_view message, int64_t offset,
                       std::string_view inside, std::string_view file) {
  JsonWriter json;
  json.begin_object();
  json.member("file", file);
  json.key("error");
  json.begin_object();
  json.member("code", code);
  json.member("message", message);
  json.member("offset", offset < 0 ? std::optional<int64_t>() : std::optional<int64_t>(offset));
  if (!inside.empty()) json.member("inside", inside);
  json.end_object();
  json.end_object();
  return std::move(json).text();
}

}  // namespace memstrata::analysis
