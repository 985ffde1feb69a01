// The moment that an answer is about, in words.
#pragma once

#include <cstdint>
#include <string>

#include "engine/analysis/live/moments.h"

namespace gpustrata::answers {

// "at the peak, after event 57 of 96", "after event 3 of 96", "before the first event", "as saved": a device without
// events. Events are named by their index, and so is the last one.
[[nodiscard]] std::string moment_text(int32_t event, const analysis::Moments& moments);

// "device 0", "host memory"
[[nodiscard]] std::string device_text(int32_t device);

}  // namespace gpustrata::answers
