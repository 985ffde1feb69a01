// The system's time of day, as PyTorch's traces have it.
#pragma once

#include <ctime>

#include "engine/trace/recorder.h"

namespace gpustrata::capture {

class WallClock final : public trace::Clock {
 public:
  [[nodiscard]] int64_t now_us() override {
    timespec now{};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
  }
};

}  // namespace gpustrata::capture
