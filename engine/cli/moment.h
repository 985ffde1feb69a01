// The moment that an answer is about, as people name it: --at.
//
// One rule for all commands: without --at, a command about one file shows the peak of the device; `compare` shows the
// end, because a snapshot to compare is taken when its moment has come. Every answer says which moment it shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/analysis/live/moments.h"
#include "engine/base/status.h"

namespace gpustrata::cli {

inline constexpr std::string_view kMomentHelp =
    "The moment: peak, end, start, or an event's index (the state after it; -1 is before the first)";

// One of the words, or a number.
[[nodiscard]] bool is_moment(std::string_view at);
// The event after which it is, -1 = before the first; none if the device has no such event.
[[nodiscard]] std::optional<int32_t> event_at(std::string_view at, const analysis::Moments& moments);
// The same. Error: wrong_usage, with what there is.
[[nodiscard]] Result<int32_t> event_or_error(std::string_view at, const analysis::Moments& moments);

}  // namespace gpustrata::cli
