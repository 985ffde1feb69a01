// A profiler's trace of the processor's memory: it calls the processor device 0, as it calls the first GPU.
#pragma once

#include "engine/model/part.h"

namespace gpustrata::model {

[[nodiscard]] inline bool is_of_processor(const Part& part) {
  return part.kind == PartKind::trace && part.name == "cpu";
}

}  // namespace gpustrata::model
