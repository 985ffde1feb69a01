// Memory by category over time: what torch.profiler's export_memory_timeline() writes, both forms of JSON.
//
//   *.raw.json.gz   [[time, action, bytes, category], ...]: a row for each change, nanoseconds since the epoch, -1 for
//                   what was there before; a new version is two rows, the old category's bytes off and the new one's on
//   others          [[time, ...], [[0, bytes of each of 8 categories], ...]]: the state after each microsecond; what
//                   came and went within one is lost, so its maximum is a lower bound of the peak
//
// Becomes a part whose series are "total" and the eight categories, levels in bytes; the clock counts nanoseconds or
// microseconds. Plotted: all series have a point for each row of the file. Raw: "total" has one for each row, with the
// category as its label and the action as its note, a category one for each row of its own. Rows of before get the
// smallest time of the others, as the exporter does it. Rows out of order are sorted.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// In the order of the files, which is that of the exporter's table of colours.
inline constexpr std::array<std::string_view, 8> kTimelineCategories = {
    "PARAMETER",  "OPTIMIZER_STATE", "INPUT",           "TEMPORARY",
    "ACTIVATION", "GRADIENT",        "AUTOGRAD_DETAIL", "Unknown"};
inline constexpr std::string_view kTimelineTotal = "total";

// The shapes of both forms at the beginning of JSON text, for the registry.
[[nodiscard]] bool begins_memory_timeline(std::string_view text);

[[nodiscard]] std::unique_ptr<Reader> memory_timeline_reader(model::Recording& recording);

}  // namespace gpustrata::io
