// The events of a device as a list: all of them, or those that a filter means (filters/event_filter.h).
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/column.h"
#include "engine/model/recording.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

class EventList {
 public:
  [[nodiscard]] static EventList all(int32_t event_count, Budget& budget) {
    return {true, event_count, budget};
  }
  // Of so many events none yet.
  [[nodiscard]] static EventList none(int32_t event_count, Budget& budget) {
    return {false, event_count, budget};
  }
  // The next one; they ascend. False = no memory.
  [[nodiscard]] bool add(int32_t event) { return events_.push_back(event); }

  [[nodiscard]] int32_t count() const { return all_ ? event_count_ : static_cast<int32_t>(events_.size()); }
  // Event of a row of the list.
  [[nodiscard]] int32_t event(int32_t row) const { return all_ ? row : events_[row]; }
  // Row of an event, or of the next one that is listed; count() if there is none. O(log rows).
  [[nodiscard]] int32_t row_of(int32_t event) const;

 private:
  EventList(bool all, int32_t event_count, Budget& budget)
      : all_(all), event_count_(event_count), events_(budget) {}

  bool all_;
  int32_t event_count_;
  Column<int32_t> events_;
};

// b'7f064c000000_0 for events of blocks, s'... of segments, empty for others.
[[nodiscard]] std::string event_name(const model::Recording& recording, const replay::StateHistory& history,
                                     int32_t event);

// The next event with this action after `from` (before it if `backwards`), -1 = none. O(events between).
[[nodiscard]] int32_t find_event(const model::Recording& recording, const replay::StateHistory& history,
                                 trace::Action action, int32_t from, bool backwards);

}  // namespace gpustrata::analysis
