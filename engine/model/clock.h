// Clock: what the times in the rows of a part count.
//
// A time is an int64 number of ticks, kept as the file has it: nothing is rounded and a file is written back
// as it was. `tick_ns` nanoseconds are one tick, and tick 0 is `base_ns` nanoseconds after the Unix epoch.
// What a snapshot says, microseconds since the epoch, is Clock{}.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace gpustrata::model {

inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();  // no row has a time then

struct Clock {
  int64_t tick_ns = 1000;  // > 0
  int64_t base_ns = 0;

  // Nanoseconds since the Unix epoch. None: no time, or not within 64 bits (292 years to either side).
  [[nodiscard]] std::optional<int64_t> nanoseconds(int64_t time) const {
    int64_t ns = 0;
    if (time == kNoTime || __builtin_mul_overflow(time, tick_ns, &ns) ||
        __builtin_add_overflow(ns, base_ns, &ns)) {
      return std::nullopt;
    }
    return ns;
  }

  // Microseconds since the Unix epoch, the unit of snapshots, rounded down; of a snapshot's own times any.
  [[nodiscard]] std::optional<int64_t> microseconds(int64_t time) const {
    if (*this == Clock{}) return time == kNoTime ? std::nullopt : std::optional(time);
    const std::optional<int64_t> ns = nanoseconds(time);
    if (!ns) return std::nullopt;
    return *ns / 1000 - (*ns % 1000 < 0 ? 1 : 0);
  }

  bool operator==(const Clock&) const = default;
};

}  // namespace gpustrata::model
