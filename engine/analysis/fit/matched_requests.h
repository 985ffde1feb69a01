// The requests of several recordings of one program, matched one by one (outline.h), with their sizes in each.
//
// O(requests * recordings), and some comparisons where they part; memory: about 150 bytes a request, charged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/analysis/fit/deaths.h"
#include "engine/analysis/fit/outline.h"
#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

struct MatchedRequests {
  explicit MatchedRequests(Budget& budget)
      : size(budget),
        source(budget),
        stack(budget),
        step(budget),
        sized_as(budget),
        outline(budget),
        deaths(budget) {}

  size_t recordings = 0;
  // By request and recording; 0 = the recording does not ask for it. Of turns between: of the first of them.
  Column<int64_t> size;
  // By request: the recording that has its stack, the last one wherever that has it.
  Column<uint8_t> source;
  Column<StackId> stack;
  // By request and recording: how much more each turn asks for than the one before; empty if none does.
  Column<int64_t> step;
  // By request: of a turn at an end of a repeat whose turns grow by `step`, and that does so, too, the one of the turns between; else
  // itself. Empty as `step`.
  Column<int32_t> sized_as;
  int32_t before = 0;             // requests of them for what was there before a recording began
  int64_t unmatched = 0;          // that some recording does not have
  int64_t freed_differently = 0;  // blocks that are not freed between the same requests
  int64_t without_stack = 0;      // matched by their order alone
  int64_t left_out = 0;           // requests of some recordings after the last one of the shortest
  bool waits_in_turns = false;    // blocks of repeats wait for another stream before they are free
  int64_t flushed_at_times = 0;   // places in turns where the cache is seen to be flushed in some turns only

  Outline outline;  // refers to the recordings
  Deaths deaths;

  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(source.size()); }
  [[nodiscard]] std::span<const OutlinedRepeat> repeats() const { return outline.repeats; }
  [[nodiscard]] std::span<const int64_t> sizes_of(int32_t request) const {
    return size.span().subspan(static_cast<size_t>(request) * recordings, recordings);
  }
  [[nodiscard]] std::span<const int64_t> steps_of(int32_t request) const {
    return step.span().subspan(static_cast<size_t>(request) * recordings, recordings);
  }
};

// `all`: one at least; the last one gives order, streams and pools. Errors: wrong_usage (another program: with the first request
// that differs; repeats that no rule holds for; one whose peak comes after the others end), limit_exceeded.
[[nodiscard]] Result<MatchedRequests> match_requests(std::span<const RequestsToMatch> all, Budget& budget);

}  // namespace gpustrata::analysis
