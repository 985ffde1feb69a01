// Time as a test says it: one microsecond more at each look.
#pragma once

#include "engine/trace/recorder.h"

namespace gpustrata::tests {

class ManualClock final : public trace::Clock {
 public:
  [[nodiscard]] int64_t now_us() override { return time_us++; }
  int64_t time_us = 1'700'000'000'000'000;
};

}  // namespace gpustrata::tests
