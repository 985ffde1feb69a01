#include <fmt/core.h>
#include <algorithm>

#include <ctime>
#include <string>
#include <vector>

#include "engine/answers/common/findings.h"
#include "engine/answers/report/summary.h"
#include "engine/answers/series/series_summary.h"
#include "engine/answers/text/fitted.h"
#include "engine/answers/text/label_rows.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"
#include "engine/trace/action.h"

namespace gpustrata::answers {

namespace {

// Before the year 2000: a trace without the time at which its clock began.
constexpr int64_t kFirstDate = int64_t{946684800} * 1000000;

[[nodiscard]] std::string time_text(int64_t time_us) {
  if (time_us < kFirstDate)
    return fmt::format("{:.6f} s by its own clock", static_cast<double>(time_us) / 1e6);
  std::time_t seconds = static_cast<std::time_t>(time_us / 1000000 - (time_us % 1000000 < 0 ? 1 : 0));
  std::tm utc{};
  char text[64];
  if (gmtime_r(&seconds, &utc) == nullptr ||
      std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc) == 0) {
    return fmt::format("{} us", time_us);
  }
  return text;
}

void append_oom(LabelRows& rows, const analysis::OutOfMemory& oom) {
  const std::string which =
      oom.count > 1 ? fmt::format(", the last of {}", count_text(oom.count)) : std::string();
  rows.size("OUT OF MEMORY", oom.requested_bytes,
            fmt::format("asked for, event {}{}", count_text(oom.event), which));
  if (oom.device_free_bytes) rows.size("free on device", *oom.device_free_bytes, "at that event");
}

void write_device(TextOut& out, const analysis::DeviceSummary& device, size_t columns) {
  out.print("\n  {}\n",
            device.is_processor ? std::string("Processor (CPU)") : fmt::format("Device {}", device.device));
  LabelRows rows;
  // Marks of snapshots alone are no history.
  const bool has_events = std::any_of(device.actions.begin(), device.actions.end(), [](const auto& one) {
    return one.first != trace::name_of(trace::Action::snapshot);
  });
  const auto at_end = [&](std::string_view what) {
    return has_events ? fmt::format("{} at end", what) : std::string(what);
  };
  if (device.oom) append_oom(rows, *device.oom);
  if (has_events) {
    rows.size("peak", device.peak_requested_bytes,
              device.peak_event < 0 ? "before the first event"
                                    : fmt::format("after event {}", count_text(device.peak_event)));
    if (device.reserved_peak_bytes) rows.size("reserved peak", *device.reserved_peak_bytes);
    rows.size("at start", device.initial_requested_bytes);
    rows.size("at end", device.final_requested_bytes);
  } else {
    rows.size("requested", device.final_requested_bytes);
  }
  if (device.allocated_bytes) rows.size(at_end("allocated"), *device.allocated_bytes, "rounded up to blocks");
  if (device.active_bytes && device.active_bytes != device.allocated_bytes)
    rows.size(at_end("active"), *device.active_bytes, "and what a stream still uses");
  if (device.reserved_bytes)
    rows.size(at_end("reserved"), *device.reserved_bytes,
              device.segments ? fmt::format("{}, {}", counted(*device.segments, "segment"),
                                            counted(device.blocks.value_or(0), "block"))
                              : std::string());
  if (has_events) {
    std::vector<std::string> pieces = {count_text(device.events) + ":"};
    for (const auto& [name, count] : device.actions)
      pieces.push_back(fmt::format("{} {},", count_text(count), shortened(name, 60)));
    pieces.back().pop_back();  // nothing follows the last
    rows.list("events", std::move(pieces));
    rows.text("stacks", device.distinct_stacks > 0
                            ? fmt::format("{} different", count_text(device.distinct_stacks))
                        : device.blocks_have_frames ? "none of events, those of the blocks at the end"
                                                    : "none");
  } else {
    rows.text("events", "none in the file");
  }
  if (device.first_time_us && device.last_time_us) {
    int64_t span = 0;
    const bool fits = !__builtin_sub_overflow(*device.last_time_us, *device.first_time_us, &span);
    rows.text("time", fmt::format("{}{}", time_text(*device.first_time_us),
                                  fits ? ", for " + duration_text(span) : ""));
  } else if (has_events) {
    rows.text("time", "not recorded");
  }
  rows.write(out, columns);
}

}  // namespace

void to_text(TextOut& out, const analysis::Summary& summary, std::string_view file, size_t columns) {
  out.print("{}\n  {}, {}\n", printable(file), summary.format, exact_size_text(summary.bytes));
  for (const analysis::SnapshotSummary& snapshot : summary.snapshots) {
    if (!snapshot.name.empty()) out.print("\n  Snapshot {}\n", shortened(snapshot.name, 200));
    if (snapshot.devices.empty()) out.add("\n  Empty: no device has a segment or an event.\n");
    for (const analysis::DeviceSummary& device : snapshot.devices) write_device(out, device, columns);
    if (snapshot.has_host) {
      out.print("\n  Pinned host memory: {}, {}\n", counted(snapshot.host_segments, "segment"),
                counted(snapshot.host_events, "event"));
    }
    if (snapshot.annotations > 0) out.print("\n  Annotations: {}\n", count_text(snapshot.annotations));
    if (snapshot.settings_json != "{}") {
      out.print("\n  Allocator settings\n    {}\n",
                fitted(shortened(snapshot.settings_json, columns * 4), columns - 4));
    }
  }
  for (const analysis::SeriesSummary& series : summary.series) to_text(out, series, columns);
  if (summary.fleets > 0) out.add(kFleetWords);
  noticed_reading_to_text(out, summary.diagnostics);
}

}  // namespace gpustrata::answers
