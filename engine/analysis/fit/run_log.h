// The requests of matched recordings as a log that can be run, with any numbers of turns.
//
// A block is freed before the request that its free stands before; where recordings differ, at the latest of them. Order, streams and
// pools are those of the last recording; of turns between, those of the one in their middle.
#pragma once

#include <cstdint>
#include <span>

#include "engine/analysis/fit/deaths.h"
#include "engine/analysis/fit/outline.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/simulate/request_log.h"

namespace gpustrata::analysis {

// A log is not longer than that.
inline constexpr int64_t kMostForetoldRequests = 4'000'000;

struct RunLog {
  explicit RunLog(Budget& budget) : log(budget), request(budget), turn(budget) {}

  // What came before as requests like others; stacks and texts of the last recording. Its sizes are those of some recording.
  simulate::RequestLog log;
  Column<int32_t> request;  // by row: of an allocate, which it is; else -1
  // By row: of a request that stands for turns between, which of them, from 0; of the same request in a turn before
  // these, below 0, and after them, above.
  Column<int32_t> turn;
};

// `times`: turns by repeat. Errors: wrong_usage (too few turns, too many requests), limit_exceeded.
[[nodiscard]] Result<RunLog> run_log(const Outline& outline, const Deaths& deaths,
                                     std::span<const int64_t> times, Budget& budget);

// What is asked for and not freed at most, and the row after which it is so: without rounding.
struct RequestedPeak {
  int64_t bytes = 0;
  int32_t row = -1;
  bool too_large = false;  // beyond 2^62
};
// `sizes`: by row. O(rows).
[[nodiscard]] RequestedPeak requested_peak(const simulate::RequestLog& log, std::span<const int64_t> sizes);

// Of the requests of a recording that are matched, as they were.
[[nodiscard]] int64_t own_peak(const Outline& outline, size_t recording);

}  // namespace gpustrata::analysis
