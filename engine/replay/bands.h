// Bands: what lives from one event to another and has a height, stacked with new ones on top. The one thing
// that a timeline draws (timeline.h), whether a band is a block (block_lives.h), a piece of device memory
// (segment_bands.h), or a block or the free rest inside the envelope of a private pool (pool_bands.h).
//
// Bands are numbered from bottom to top; the number never changes, and the offset of a band at an event is
// the sum of the sizes of live bands with lower numbers. Events are counted from the first one of the device.
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/model/recording.h"

namespace gpustrata::replay {

inline constexpr int64_t kMaxLevel = int64_t{1} << 53;  // sums stay exact in a double

// Values that change at few events: value after event e = value of the last step at or before e.
struct StepSeries {
  explicit StepSeries(Budget& budget) : event(budget), value(budget) {}
  int64_t initial = 0;
  Column<int32_t> event;  // ascending
  Column<int64_t> value;

  // Value after `event`; -1 asks for the value before the first event. O(log steps).
  [[nodiscard]] int64_t at(int32_t event_index) const;
};

struct Bands {
  explicit Bands(Budget& budget);

  model::Clock clock;  // of the times of its events

  int32_t device = 0;
  model::RowRange events;  // rows of EventTable

  // Per band.
  Column<int64_t> size;   // bytes, >= 0
  Column<int32_t> born;   // the first event after which it is there; -1 = from the start
  Column<int32_t> freed;  // the first event after which it is gone; events.count = never

  // Per event.
  Column<int64_t> level;  // bytes in live bands after the event

  StepSeries reserved;  // bytes in segments; nothing unless has_reserved
  StepSeries pending;   // bytes of the level that the program does not use

  bool has_reserved = true;  // false: a profiler told it, and not what was reserved

  int64_t initial_level = 0;
  int64_t final_level = 0;
  int64_t peak_level = 0;
  int32_t peak_event = -1;  // earliest; -1 = the initial state

  model::Diagnostics diagnostics;  // what had to be repaired

  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(size.size()); }
  [[nodiscard]] int64_t level_after(int32_t event) const { return event < 0 ? initial_level : level[event]; }
  [[nodiscard]] bool is_live_after(int32_t band, int32_t event) const {
    return born[band] <= event && event < freed[band];
  }
};

}  // namespace gpustrata::replay
