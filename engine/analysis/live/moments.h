// The moments of a device that have names.
#pragma once

#include <cstdint>

namespace gpustrata::analysis {

struct Moments {
  int32_t event_count = 0;
  int32_t peak_event = -1;  // -1 = before the first
};

}  // namespace gpustrata::analysis
