// Statistics of torch.distributed._tools.memory_tracker.MemoryTracker: what save_stats() pickles.
//
// A dict of three tables by operator number (allocated, active and reserved memory after that operator, each with the
// operator's name), of markers and of the number of allocation retries; protocol 4 or 5, older ones too. Sizes are MiB
// as doubles, bytes / 2^20: exact below 2^53 bytes. The tables are collections.defaultdict; no other class is let in
// than that and its factory int, and neither is created.
//
// Becomes a part whose series are "allocated", "active" and "reserved", one point for each operator, labels of the first
// being the names of the operators, and "markers", points without a value. Its times are numbers of operators. The
// retries are an extra of the part. Ignored, with a remark: other keys.
#pragma once

#include <memory>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// Names of the series; the extra's key is that of the file.
inline constexpr std::string_view kTrackerTables[] = {"memories_allocated", "memories_active",
                                                      "memories_reserved"};
inline constexpr std::string_view kTrackerSeries[] = {"allocated", "active", "reserved"};
inline constexpr std::string_view kTrackerMarkers = "markers";
inline constexpr std::string_view kTrackerRetries = "num_alloc_retries";
inline constexpr std::string_view kTrackerOpIndex = "op_index";  // PyTorch 2.15 and newer

[[nodiscard]] std::unique_ptr<Reader> memory_tracker_reader(model::Recording& recording);

}  // namespace gpustrata::io
