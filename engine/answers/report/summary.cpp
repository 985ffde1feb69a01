#include "engine/answers/report/summary.h"

#include "engine/answers/common/findings.h"
#include "engine/answers/series/series_summary.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

namespace {

constexpr size_t kLongestAction = 200;  // bytes of an unknown action's name that are shown

void describe_device(Members& m, const analysis::DeviceSummary& sums) {
  m.count({"device", "-1 = the host."}, sums.device);
  m.count("events", sums.events);
  m.by_name(
      As::count, {"actions", "By first appearance."}, sums.actions,
      [](const auto& action) { return utf8::cut(action.first, kLongestAction); },
      [](const auto& action) { return action.second; });
  m.count({"segments", "Of the final state, as the next four; null: a profiler's trace does not say."},
          sums.segments);
  m.count("blocks", sums.blocks);
  m.bytes("reserved_bytes", sums.reserved_bytes);
  m.bytes("allocated_bytes", sums.allocated_bytes);
  m.bytes({"active_bytes", "Allocated, or waiting for a stream."}, sums.active_bytes);
  m.bytes("initial_requested_bytes", sums.initial_requested_bytes);
  m.bytes("final_requested_bytes", sums.final_requested_bytes);
  m.object("peak", [&] {
    m.bytes("requested_bytes", sums.peak_requested_bytes);
    m.count({"event", "-1 = the initial state."}, sums.peak_event);
  });
  if (const auto there = m.when(sums.oom.has_value())) {
    const analysis::OutOfMemory oom = sums.oom.value_or(analysis::OutOfMemory());
    m.object({"oom", "Requests that the device could not serve: the last of them."}, [&] {
      m.count({"count", "Of all."}, oom.count);
      m.count("event", oom.event);
      m.bytes("requested_bytes", oom.requested_bytes);
      m.bytes({"device_free_bytes", "As the driver said."}, oom.device_free_bytes);
    });
  }
  m.count({"distinct_stacks", "Of events."}, sums.distinct_stacks);
  m.microseconds("first_time_us", sums.first_time_us);
  m.microseconds("last_time_us", sums.last_time_us);
}

void describe_snapshot(Members& m, const analysis::SnapshotSummary& snapshot) {
  if (const auto there = m.when(!snapshot.name.empty())) m.text("name", snapshot.name);
  m.list("devices", snapshot.devices,
         [&](const analysis::DeviceSummary& device) { describe_device(m, device); });
  m.object({"host", "Pinned memory of the host."}, snapshot.has_host ? &snapshot : nullptr,
           [&](const analysis::SnapshotSummary& of) {
             m.count("segments", of.host_segments);
             m.count("events", of.host_events);
           });
  m.written(As::any, {"settings", "allocator_settings as in the file."},
            [&](JsonWriter& json) { json.raw(snapshot.settings_json); });
  m.count("annotations", snapshot.annotations);
}

}  // namespace

void describe(Members& m, const analysis::Summary& summary, std::string_view file) {
  m.is({"Summary", "What is in a file."});
  m.line("summary --json");
  m.text("file", file);
  m.text("format", summary.format);
  m.bytes("bytes", summary.bytes);
  m.list("snapshots", summary.snapshots,
         [&](const analysis::SnapshotSummary& snapshot) { describe_snapshot(m, snapshot); });
  if (const auto there = m.when(!summary.series.empty())) describe_series(m, summary.series);
  if (const auto there = m.when(summary.fleets > 0)) m.count("fleets", summary.fleets);
  m.list("diagnostics", summary.diagnostics);
}

}  // namespace gpustrata::answers
