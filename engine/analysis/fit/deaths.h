// Until when the block of each request lives, said so that it can be told for other numbers of turns.
#pragma once

#include <cstdint>

#include "engine/analysis/fit/outline.h"
#include "engine/base/column.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

struct Death {
  enum class Until : uint8_t {
    never,
    request,          // before `request`, or behind the last
    turn_from_start,  // after a request of a turn that is counted from the first
    turn_from_end,    // the same, from the last: 0
    turns_later,      // so many turns after its own, also of another repeat
    turns_mirrored,   // as many turns before the last as its own is after the first, and `turn`
  };
  Until until = Until::never;
  int32_t request = 0;
  int32_t repeat = -1, at = 0;  // of the request that it follows
  int32_t turn = 0;
};

struct Deaths {
  explicit Deaths(Budget& budget) : death(budget) {}
  Column<Death> death;  // by request
  int64_t freed_differently =
      0;  // blocks that are not freed between the same requests: they count until the latest
  int32_t untold =
      -1;  // the first request whose block no such rule holds for; what follows it is not looked at
};
// Error: limit_exceeded.
[[nodiscard]] Result<Deaths> find_deaths(const Outline& outline, Budget& budget);

}  // namespace gpustrata::analysis
