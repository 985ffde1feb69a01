// Exports of gpumemprof (GPUMemoryProfiler), later named Stormlog: counters of the allocator, sampled.
//
// Read, as JSON (readers/series/telemetry.cpp) and as CSV (readers/series/telemetry_csv.h):
//   profile export     {"metadata", "results": [...], "snapshots": [...]}, or two CSV of results and of snapshots
//   telemetry v2       an array of records or {"events": [...]}, a single record, CSV with a column for each field
//   legacy telemetry   the same without schema_version: seconds, `memory_allocated`, `memory_mb`, device as text, ...
//   OOM bundle         events.json (ring of events), metadata.json, environment.json, manifest.json
//   diagnose bundle    telemetry_timeline.json ({timestamps, allocated, reserved}), diagnostic_summary.json, ...
//
// Becomes a part whose series are counters: of each device "allocated" (a point for each sample, with the kind of event as
// its label and the context as its note), "reserved", "active", "inactive", "device_used", "device_free",
// "device_total", where the file has them; of profiled functions "call_before", "call_peak", "call_after", "call_net",
// "call_time" (nanoseconds; the note is the number of seconds as written), a point for each call at its start, the function as
// its label, and where the file says it "call_reserved", the most that was reserved at a call's snapshots. Times are nanoseconds since the epoch. Bundles' own facts are extras of the part, as JSON text; metadata and
// unknown fields of records are extras of the sample's point.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

inline constexpr std::array<std::string_view, 7> kTelemetryCounters = {
    "allocated", "reserved", "active", "inactive", "device_used", "device_free", "device_total"};
inline constexpr std::array<std::string_view, 5> kTelemetryCalls = {"call_before", "call_peak", "call_after",
                                                                    "call_net", "call_time"};

[[nodiscard]] std::unique_ptr<Reader> telemetry_reader(model::Recording& recording);

}  // namespace gpustrata::io
