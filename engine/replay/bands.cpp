#include "engine/replay/bands.h"

#include <algorithm>

namespace gpustrata::replay {

int64_t StepSeries::at(int32_t event_index) const {
  const auto after = std::upper_bound(event.begin(), event.end(), event_index) - event.begin();
  return after == 0 ? initial : value[after - 1];
}

Bands::Bands(Budget& budget)
    : size(budget), born(budget), freed(budget), level(budget), reserved(budget), pending(budget) {}

}  // namespace gpustrata::replay
