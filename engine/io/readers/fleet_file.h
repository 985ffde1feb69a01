// A reduced fleet: what `gpustrata fleet -o` writes of a thousand ranks ("The reduced file, version 1" in
// engine/fleet/README.md). JSON with the outer key "gpustrata_fleet".
//
// Only the page looks into it, and has JSON.parse: the file becomes a part with its text, and no rows in the tables.
// web/src/model/fleet_file.ts checks its shape. Refused here: a text that is too long, or that does not end as an object does.
#pragma once

#include <memory>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

[[nodiscard]] std::unique_ptr<Reader> fleet_file_reader(model::Recording& recording);

}  // namespace gpustrata::io
