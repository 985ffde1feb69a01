// A profiler's trace of the processor's memory: it calls the processor device 0, as it calls the first GPU.
#pragma once

#include <algorithm>

#include "engine/model/part.h"
#include "engine/model/recording.h"

namespace gpustrata::model {

[[nodiscard]] inline bool is_of_processor(const Part& part) {
  return part.kind == PartKind::trace && part.name == "cpu";
}

// Of no GPU there is a record.
[[nodiscard]] inline bool has_only_processors(const Recording& recording) {
  return std::all_of(recording.parts.begin(), recording.parts.end(), is_of_processor);
}

}  // namespace gpustrata::model
