// The moment that an answer is about, as people name it: --at.
//
// One rule for all commands: without --at, a command about one file shows the peak of the device; `compare` shows the
// end, because a snapshot to compare is taken when its moment has come. Every answer says which moment it shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/status.h"

namespace memstrata::cli {

inline constexpr std::string_view kMomentHelp =
    "The moment: peak, end, start, or an event's index (the state after it; -1 is before the first)";

// What of a device names its moments.
struct Moments {
  int32_t event_count = 0;
  int32_t peak_event = -1;  // -1 = before the first
};

// One of the words, or a number.
[[nodiscard]] bool is_moment(std::string_view at);
// The event after which it is, -1 = before the first; none if the device has no such event.
[[nodiscard]] std::optional<int32_t> event_at(std::string_view at, const Moments& moments);
// The same. Error: wrong_usage, with what there is.
[[nodiscard]] Result<int32_t> event_or_error(std::string_view at, const Moments& moments);

// "at the peak, after event 57 of 96", "after event 3 of 96", "before the first event", "as saved": a device without
// events. Events are named by their index, and so is the last one.
[[nodiscard]] std::string moment_text(int32_t event, const Moments& moments);

}  // namespace memstrata::cli
