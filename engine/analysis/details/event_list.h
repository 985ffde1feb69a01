// The events of a device as a list: all of them, or those that a filter means.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "engine/analysis/device/stream_numbers.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

// An event must satisfy all that is set.
struct EventFilter {
  std::string actions;  // names separated by commas, as in the file; empty = any
  int64_t least_size = 0;
  int64_t most_size = std::numeric_limits<int64_t>::max();
  int32_t stream = -1;  // number as StreamNumbers gives it; -1 = any
  std::string address;  // part of the name b'<hex>_<version> or s'...; 0x in front is allowed; empty = any
  std::string frame;    // part of a line file:line:name of the stack, case does not matter; empty = any

  [[nodiscard]] bool is_empty() const;
  [[nodiscard]] bool operator==(const EventFilter&) const = default;
};

class EventList {
 public:
  explicit EventList(Budget& budget) : events_(budget) {}
  // All events. O(1).
  void show_all(int32_t event_count);
  // O(events + frames + stacks). Error: limit_exceeded.
  [[nodiscard]] Status show(const model::Recording& recording, const replay::StateHistory& history,
                            const StreamNumbers& streams, const EventFilter& filter);

  [[nodiscard]] int32_t count() const { return all_ ? event_count_ : static_cast<int32_t>(events_.size()); }
  // Event of a row of the list.
  [[nodiscard]] int32_t event(int32_t row) const { return all_ ? row : events_[static_cast<size_t>(row)]; }
  // Row of an event, or of the next one that is listed; count() if there is none. O(log rows).
  [[nodiscard]] int32_t row_of(int32_t event) const;

 private:
  bool all_ = true;
  int32_t event_count_ = 0;
  Column<int32_t> events_;
};

// b'7f064c000000_0 for events of blocks, s'... of segments, empty for others.
[[nodiscard]] std::string event_name(const model::Recording& recording, const replay::StateHistory& history,
                                     int32_t event);

// The next event with this action after `from` (before it if `backwards`), -1 = none. O(events between).
[[nodiscard]] int32_t find_event(const model::Recording& recording, const replay::StateHistory& history,
                                 trace::Action action, int32_t from, bool backwards);

}  // namespace gpustrata::analysis
