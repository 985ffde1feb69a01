// Where a program's own thread goes back in its source (loops.h), and how often each of its lines is passed so.
//
// Call sites are ordered by caller, function and line: the lines of one function, called from one place, are consecutive
// places. A jump back goes from one of them to a lower one, or from a line to itself.
#pragma once

#include <cstdint>

#include "engine/analysis/steps/call_sites.h"
#include "engine/base/column.h"

namespace gpustrata::analysis {

struct BackJump {
  int32_t to, from;    // places, to <= from, of one function
  int32_t allocation;  // of CallSites: that it comes to

  [[nodiscard]] bool is_across(int32_t place) const { return to <= place && place <= from; }
};

struct PlaceRange {
  int32_t first = 0, last = -1;

  [[nodiscard]] bool has(int32_t place) const { return first <= place && place <= last; }
};

class BackJumps {
 public:
  // `calls` has walked, and stays.
  BackJumps(const CallSites& calls, Budget& budget);
  // False = no memory.
  [[nodiscard]] bool find();

  [[nodiscard]] int32_t place_count() const { return static_cast<int32_t>(site_of_place_.size()); }
  [[nodiscard]] int32_t place_of(int32_t site) const { return place_of_site_[site]; }
  [[nodiscard]] int32_t site_at(int32_t place) const { return site_of_place_[place]; }
  // The places of the function that has this one.
  [[nodiscard]] PlaceRange function_of(int32_t place) const;
  // Times that something went back across a place.
  [[nodiscard]] int32_t passes(int32_t place) const { return passes_[place]; }
  // The places around this one that a chain of jumps holds together.
  [[nodiscard]] PlaceRange held_with(int32_t place) const;
  // All that jumps across this one are across.
  [[nodiscard]] PlaceRange reach_of(int32_t place) const;
  // Allocations below places of one function.
  [[nodiscard]] int64_t allocations(PlaceRange places) const {
    return until_[places.last + 1] - until_[places.first];
  }
  // Times that the walk came to a site from outside of it.
  [[nodiscard]] int32_t visits(int32_t site) const { return visits_[site]; }
  [[nodiscard]] const Column<BackJump>& jumps() const { return jumps_; }

 private:
  [[nodiscard]] bool order_places();
  [[nodiscard]] bool count_comings();
  [[nodiscard]] bool find_jumps();
  [[nodiscard]] bool count_passes();
  // Control left a function at `from` and came into it at `to`, a lower line: whether it ended and was called again.
  [[nodiscard]] bool is_called_again(int32_t from, int32_t to) const;
  // When the walk first came to the function of a site, or, for -1, to an allocation of `at` itself.
  [[nodiscard]] int32_t first_of(int32_t site, int32_t at) const;

  const CallSites& calls_;
  Column<int32_t> site_of_place_, place_of_site_;
  Column<int32_t> function_;     // per place
  Column<int32_t> first_place_;  // per function, and one more
  // Per function: the first allocation below it, times it was left for elsewhere and entered from there.
  Column<int32_t> first_, exits_of_function_, entries_of_function_;
  // Per site.
  Column<int32_t> own_first_, visits_, exits_, entries_;
  // Per place.
  Column<int32_t> passes_, links_;  // a link is a jump across a place and the next one
  Column<int64_t> until_;           // allocations below all places before; one more
  Column<BackJump> jumps_;          // in the order of the walk
};

}  // namespace gpustrata::analysis
