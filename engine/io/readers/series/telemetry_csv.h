// Exports of gpumemprof and Stormlog as CSV: telemetry with a column for each field, snapshots, results of functions. A
// line is read as the record that JSON would have (telemetry.h): an empty cell is null, a number a number; `metadata` is a
// Python literal and stays text. A line with fewer or more cells than the header is counted; what it has, counts.
#pragma once

#include <memory>
#include <string_view>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// Is the first line of `text` a header of such a file?
[[nodiscard]] bool begins_telemetry_csv(std::string_view text);

[[nodiscard]] std::unique_ptr<Reader> telemetry_csv_reader(model::Recording& recording);

}  // namespace gpustrata::io
