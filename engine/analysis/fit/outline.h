// Which request of which recording is which: the requests of several recordings of one program, matched one by one.
//
// A request is the same in two recordings if its stack is shown as the same lines (shown_stacks.h) and so are those around it. Where
// the recordings part, the fewest requests are passed after which kWindow stacks agree again. Of what the program repeats as often as a
// parameter says (repeats.h), a few turns at both ends are requests of their own; one request stands for those of all turns between.
// What was there before the recordings began is matched by when it is freed, its stack and its size, and comes before everything else.
//
// O(requests * recordings), and kMostComparisons where they part; memory: about 100 bytes a request, charged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/analysis/fit/asked_requests.h"
#include "engine/analysis/fit/repeats.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/simulate/recorded_requests.h"

namespace gpustrata::analysis {

struct RequestsToMatch {
  const model::Recording& recording;
  const simulate::RecordedRequests& requests;
  std::string name;  // for errors: "batch=4"
};

struct OutlinedRepeat : FoundRepeat {
  int32_t before = 0, after = 0;  // turns at its beginning and end that are requests of their own
  int32_t first = 0;              // request: the first of those that stand for the turns between

  [[nodiscard]] int32_t between(size_t recording) const { return times[recording] - before - after; }
  // A turn that is like others: the one in the middle of those between.
  [[nodiscard]] int32_t typical_turn(size_t recording) const { return before + (between(recording) - 1) / 2; }
  [[nodiscard]] bool is_between(size_t recording, int32_t turn) const {
    return turn >= before && turn < times[recording] - after;
  }
};

// Where an own request of a recording stands in a repeat.
struct Turn {
  int32_t repeat = -1;  // -1 = in none
  int32_t turn = 0, at = 0;
};

struct Outline {
  explicit Outline(Budget& budget) : symbol(budget), index(budget) {}

  std::vector<RequestsToMatch> all;
  std::vector<AskedRequests> asked;  // by recording
  std::vector<int32_t> ends;         // by recording: own requests that are matched
  std::vector<OutlinedRepeat> repeats;
  Column<int32_t> symbol;  // by request
  Column<int32_t> index;   // by request and recording: place in `kept`; -1 = the recording does not have it
  std::vector<Column<int32_t>>
      kept;  // by recording: own requests; of turns between, those of the first of them
  // By recording and place in `kept`: 1 = there are no turns between; a turn at an end stands in.
  std::vector<Column<uint8_t>> stands_in;
  std::vector<Column<int32_t>> place;  // by recording and own request, and behind the last: the request

  [[nodiscard]] size_t last() const { return all.size() - 1; }
  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(symbol.size()); }
  [[nodiscard]] int32_t index_of(int32_t request, size_t recording) const {
    return index[static_cast<size_t>(request) * all.size() + recording];
  }
  // Its own request; -1 = none. Of turns between: of the first of them.
  [[nodiscard]] int32_t own_of(int32_t request, size_t recording) const {
    const int32_t at = index_of(request, recording);
    return at < 0 ? -1 : kept[recording][at];
  }
  [[nodiscard]] bool is_stand_in(int32_t request, size_t recording) const {
    const int32_t at = index_of(request, recording);
    return at >= 0 && stands_in[recording][at] != 0;
  }
  // The last recording that has it; there is one.
  [[nodiscard]] size_t source_of(int32_t request) const;
  [[nodiscard]] Turn turn_of(size_t recording, int32_t own) const;
  [[nodiscard]] bool is_between(size_t recording, const Turn& turn) const {
    return turn.repeat >= 0 && repeats[static_cast<size_t>(turn.repeat)].is_between(recording, turn.turn);
  }
  // The repeat whose turns between it stands for; -1 = none.
  [[nodiscard]] int32_t repeat_of(int32_t request) const;
  // "train.py:12:step", of a request.
  [[nodiscard]] std::string line_of(int32_t request) const;
};

// Requests of all recordings in order, each with its stack's number; and what they repeat.
[[nodiscard]] Status read_requests(std::span<const RequestsToMatch> all, Outline& outline,
                                   std::vector<FoundRepeat>& repeats, Budget& budget);

// Matches them. `before`, `after`: turns that are requests of their own, as far as the recordings have so many. Errors: wrong_usage (another program: with the
// first request that differs), limit_exceeded.
[[nodiscard]] Status outline_requests(std::span<const FoundRepeat> repeats, int32_t before, int32_t after,
                                      Outline& outline, Budget& budget);

}  // namespace gpustrata::analysis
