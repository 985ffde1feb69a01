#include "engine/answers/common/moment.h"

#include <fmt/core.h>

#include "engine/base/units.h"
#include "engine/replay/state_history.h"

namespace gpustrata::answers {

std::string moment_text(int32_t event, const analysis::Moments& moments) {
  if (moments.event_count == 0) return "as saved";
  const std::string_view peak = event == moments.peak_event ? "at the peak, " : "";
  if (event < 0) return fmt::format("{}before the first event", peak);
  return fmt::format("{}after event {} (the last is {})", peak, count_text(event),
                     count_text(moments.event_count - 1));
}

std::string device_text(int32_t device) {
  return device == replay::kHostDevice ? "host memory" : fmt::format("device {}", device);
}

}  // namespace gpustrata::answers
