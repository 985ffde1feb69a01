#include "engine/analysis/steps/loops.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/analysis/steps/back_jumps.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

constexpr double kLeastShare = 0.3;  // of the allocations
constexpr double kSurelyRegular = 0.6;
constexpr double kLeastRegular = 0.5;      // of the repeats that are about as long as the others
constexpr double kLeastGiven = 0.5;        // of the bytes of a loop that does not train
constexpr double kLeastBlocksGiven = 0.7;  // or of its blocks
constexpr int32_t kFewPasses = kFewestRepeats - 1;
constexpr size_t kMostTried = 64;  // candidates that are looked at, each in O(events)

// Passes that are about as many: a repeat more or less, or one in a few that left a line out.
[[nodiscard]] bool are_as_many(int32_t passes, int32_t fewest) {
  return int64_t{passes} * 10 <= int64_t{fewest} * 13;
}

class LoopFinder {
 public:
  LoopFinder(const model::Recording& recording, const replay::BlockLives& lives)
      : recording_(recording), lives_(lives), calls_(recording), jumps_(calls_, recording.budget) {}

  [[nodiscard]] Result<FoundLoop> run() {
    if (!calls_.walk(lives_.events)) return no_memory();
    FoundLoop found;
    if (calls_.site.empty()) {
      found.why_not = lives_.count() == lives_.from_start ? NoLoop::no_allocations : NoLoop::no_calls;
      return found;
    }
    if (!jumps_.find()) return no_memory();
    if (!with_optimizer(found) || (!found.loop && !outermost(found))) return no_memory();
    found.why_not = found.loop ? NoLoop::no : why_not_;
    return found;
  }

 private:
  static tl::unexpected<Error> no_memory() {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to look for loops.");
  }

  [[nodiscard]] double share(PlaceRange places) const {
    return static_cast<double>(jumps_.allocations(places)) / static_cast<double>(calls_.site.size());
  }
  [[nodiscard]] const CallSite& site_at(int32_t place) const { return calls_.sites[jumps_.site_at(place)]; }

  // ---- by its optimizer

  // The lines that call an optimizer, and those around them.
  [[nodiscard]] bool with_optimizer(FoundLoop& found) {
    struct Best {
      int32_t place = -1;
      bool calls_it = false;  // the optimizer
      std::tuple<int64_t, int32_t> rank{};
    } best;
    if (!looked_at_.resize(static_cast<size_t>(jumps_.place_count()), 0)) return false;
    for (size_t i = 1; i < calls_.sites.size(); ++i) {
      const CallSite& site = calls_.sites[i];
      if (!site.optimizer || calls_.sites[site.caller].within) continue;
      for (int32_t line = site.caller; line >= 0; line = calls_.sites[line].caller) {
        const int32_t place = jumps_.place_of(line);
        if (looked_at_[place] != 0) break;
        looked_at_[place] = 1;
        if (jumps_.passes(place) < kFewPasses || ++tried_ > kMostTried / 2) continue;
        const PlaceRange reach = jumps_.reach_of(place);
        if (share(reach) < kLeastShare || (line == site.caller && is_of_parameters(reach))) continue;
        const std::tuple rank(jumps_.allocations(reach), jumps_.passes(place));
        if (best.place < 0 || rank > best.rank) best = {place, line == site.caller, rank};
        break;
      }
    }
    if (best.place < 0) return true;
    Loop loop(recording_.budget);
    if (!set_repeats(best.place, loop, best.calls_it)) return false;
    if (loop.count() < kFewestRepeats) return true;
    loop.trains = true;
    loop.sureness = regularity(loop) >= kSurelyRegular ? 0.95 : 0.5;
    found.loop = std::move(loop);
    return true;
  }

  // The line that calls the optimizer does not loop itself: what it calls again are parts of one step.
  [[nodiscard]] bool is_of_parameters(PlaceRange reach) const {
    return reach.first == reach.last && jumps_.site_at(reach.first) != CallSites::kRoot;
  }

  // ---- the outermost

  [[nodiscard]] bool outermost(FoundLoop& found) {
    if (!count_backward() || !below_.resize(calls_.sites.size(), 0)) return false;
    for (int32_t place = 0; place < jumps_.place_count();) {
      const PlaceRange held = jumps_.held_with(place);
      if (!site_at(place).within && jumps_.passes(place) > 0 && !held_.push_back(held)) return false;
      place = held.last + 1;
    }
    // Outer before inner ones, larger before smaller ones.
    std::sort(held_.data(), held_.data() + held_.size(), [&](PlaceRange a, PlaceRange b) {
      const auto key = [&](PlaceRange places) {
        return std::tuple(site_at(places.first).depth, -jumps_.allocations(places), places.first);
      };
      return key(a) < key(b);
    });
    for (const int32_t fewest : {kFewestRepeats + 1, kFewestRepeats}) {
      for (const PlaceRange held : held_) {
        if (share(held) < kLeastShare) {
          note(most_passes(held) >= kFewPasses ? NoLoop::small : NoLoop::no_repeat);
          continue;
        }
        if (!try_levels(held, fewest, found)) return false;
        if (found.loop) return true;
      }
    }
    return true;
  }

  [[nodiscard]] int32_t most_passes(PlaceRange places) const {
    int32_t most = 0;
    for (int32_t place = places.first; place <= places.last; ++place)
      most = std::max(most, jumps_.passes(place));
    return most;
  }

  // Loops within one another that share lines of one function: from the outer one inwards.
  [[nodiscard]] bool try_levels(PlaceRange places, int32_t fewest, FoundLoop& found) {
    while (tried_++ < kMostTried) {
      int32_t least = 0;
      for (int32_t place = places.first; place <= places.last; ++place) {
        const int32_t passes = jumps_.passes(place);
        if (passes >= kFewPasses && (least == 0 || passes < least)) least = passes;
      }
      if (least == 0) return note(NoLoop::no_repeat), true;
      // The line of that level that asks for most: others are left out now and then, or call something twice.
      int32_t at = -1;
      PlaceRange inner, largest;
      for (int32_t place = places.first; place <= places.last; ++place) {
        const int32_t passes = jumps_.passes(place);
        if (passes < kFewPasses) continue;
        if (are_as_many(passes, least)) {
          if (at < 0 || jumps_.allocations({place, place}) > jumps_.allocations({at, at})) at = place;
          inner = {};
          continue;
        }
        if (inner.last != place - 1 || inner.last < inner.first) inner.first = place;
        inner.last = place;
        if (largest.last < largest.first || jumps_.allocations(inner) > jumps_.allocations(largest))
          largest = inner;
      }
      const bool has_inner = largest.first <= largest.last && share(largest) >= kLeastShare;
      Loop loop(recording_.budget);
      if (!set_repeats(at, loop)) return false;
      loop.trains = trains(places, loop.count());
      if (!(has_inner && is_of_inner(places, largest, loop)) && is_steps(loop, at, fewest)) {
        found.loop = std::move(loop);
        return true;
      }
      if (!has_inner) return true;
      places = largest;
    }
    return true;
  }

  // An outer loop that cannot be told from lines that are left out in most repeats of the inner one: in favour of the one
  // that trains; of requests, of the one that has loops of its own; of the one below an epoch.
  [[nodiscard]] bool is_of_inner(PlaceRange outer, PlaceRange inner, const Loop& loop) {
    if (outer.first != inner.first && outer.last != inner.last) return false;
    if (is_epoch(largest_call(inner))) return true;
    if (loop.trains) return trains(inner, loop.count());
    return outer.first == inner.first && has_loops_below(inner);
  }

  [[nodiscard]] bool has_loops_below(PlaceRange places) {
    const int64_t many = int64_t{2} * most_passes(places);
    mark_below(places);
    for (size_t site = 1; site < below_.size(); ++site) {
      if (below_[site] != 0 && jumps_.passes(jumps_.place_of(static_cast<int32_t>(site))) >= many)
        return true;
    }
    return false;
  }

  // Sites on the way to which one of these places lies.
  void mark_below(PlaceRange places) {
    for (size_t site = 0; site < below_.size(); ++site) {
      const int32_t caller = calls_.sites[site].caller;
      const bool below =
          places.has(jumps_.place_of(static_cast<int32_t>(site))) || (caller >= 0 && below_[caller] != 0);
      below_[site] = below ? 1 : 0;
    }
  }

  // Sites of a backward pass, the outermost on their path.
  [[nodiscard]] bool count_backward() {
    for (size_t i = 1; i < calls_.sites.size(); ++i) {
      const CallSite& site = calls_.sites[i];
      if (!site.backward || calls_.sites[site.caller].backward) continue;
      if (!visited_backward_.push_back(static_cast<int32_t>(i))) return false;
    }
    return true;
  }
  // In one of two repeats and more a backward pass begins below these places.
  [[nodiscard]] bool trains(PlaceRange places, int32_t repeats) {
    if (visited_backward_.empty()) return false;
    mark_below(places);
    int64_t passes = 0;
    for (const int32_t site : visited_backward_) passes += below_[site] != 0 ? jumps_.visits(site) : 0;
    return passes * 2 >= repeats;
  }

  [[nodiscard]] bool is_steps(Loop& loop, int32_t at, int32_t fewest) {
    if (loop.count() < fewest) return note(NoLoop::no_repeat), false;
    if (is_of_epochs(at)) return false;
    const double regular = regularity(loop);
    if (regular < kLeastRegular) return note(NoLoop::irregular), false;
    if (!loop.trains && !gives_back(loop)) return note(NoLoop::keeps), false;
    loop.sureness = (loop.trains ? 0.9 : 0.8) * regular;
    return true;
  }

  // Calls of a function for an epoch: what it repeats itself are the steps.
  [[nodiscard]] bool is_of_epochs(int32_t at) const {
    const int32_t called = largest_call(jumps_.reach_of(at));
    return is_epoch(called) && most_passes(jumps_.function_of(called)) >= kFewPasses;
  }
  [[nodiscard]] bool is_epoch(int32_t place) const {
    return place >= 0 &&
           recording_.strings.view(recording_.frames[site_at(place).frame].name).find("epoch") !=
               std::string_view::npos;
  }

  // A place of the function called from these lines that asks for most; -1 = none is.
  [[nodiscard]] int32_t largest_call(PlaceRange lines) const {
    int32_t most = -1;
    for (int32_t place = 0; place < jumps_.place_count(); place = jumps_.function_of(place).last + 1) {
      const int32_t caller = site_at(place).caller;
      if (caller < 0 || !lines.has(jumps_.place_of(caller))) continue;
      if (most < 0 ||
          jumps_.allocations(jumps_.function_of(place)) > jumps_.allocations(jumps_.function_of(most)))
        most = place;
    }
    return most;
  }

  // Share of the repeats, but the last, that are between half and twice as long as the one in the middle.
  [[nodiscard]] double regularity(const Loop& loop) const {
    Column<int32_t> lengths(recording_.budget);
    const auto allocation = [&](int32_t event) {
      return static_cast<int32_t>(std::lower_bound(calls_.event.begin(), calls_.event.end(), event) -
                                  calls_.event.begin());
    };
    for (int32_t i = 0; i + 1 < loop.count(); ++i) {
      if (!lengths.push_back(allocation(loop.begin[i + 1]) - allocation(loop.begin[i]))) return 0;
    }
    if (lengths.empty()) return 0;
    std::sort(lengths.data(), lengths.data() + lengths.size());
    const int32_t middle = lengths[lengths.size() / 2];
    const auto regular = std::count_if(lengths.begin(), lengths.end(), [&](int32_t length) {
      return int64_t{length} * 2 >= middle && length <= int64_t{middle} * 2;
    });
    return static_cast<double>(regular) / static_cast<double>(lengths.size());
  }

  // Of its repeats, but the first and the last: whether most bytes, or most blocks, are free again before its end.
  [[nodiscard]] bool gives_back(const Loop& loop) const {
    const int32_t from = loop.begin[1], to = loop.begin.back();
    int64_t taken = 0, given = 0, blocks_taken = 0, blocks_given = 0;
    for (int32_t rank = lives_.from_start; rank < static_cast<int32_t>(lives_.born.size()); ++rank) {
      if (lives_.born[rank] < from || lives_.born[rank] >= to) continue;
      add_saturated(taken, lives_.size[rank]);
      ++blocks_taken;
      if (lives_.freed[rank] >= loop.end) continue;
      add_saturated(given, lives_.size[rank]);
      ++blocks_given;
    }
    const auto is_most = [](int64_t part, int64_t all, double least) {
      return all > 0 && static_cast<double>(part) >= least * static_cast<double>(all);
    };
    return is_most(given, taken, kLeastGiven) || is_most(blocks_given, blocks_taken, kLeastBlocksGiven);
  }

  // ---- its repeats

  // Those of the innermost loop around a line; `lines_only`: not when it calls again what it called.
  [[nodiscard]] bool set_repeats(int32_t at, Loop& loop, bool lines_only = false) {
    const PlaceRange reach = jumps_.reach_of(at), function = jumps_.function_of(at);
    // Per site: the place of that function's line that it lies below.
    inherited_.clear();
    if (!inherited_.reserve(calls_.sites.size())) return false;
    for (size_t i = 0; i < calls_.sites.size(); ++i) {
      const int32_t place = jumps_.place_of(static_cast<int32_t>(i)), caller = calls_.sites[i].caller;
      if (!inherited_.push_back(function.has(place) ? place : caller < 0 ? -1 : inherited_[caller]))
        return false;
    }
    size_t jump = 0, last = 0;
    bool was_in = false;
    for (size_t i = 0; i < calls_.site.size(); ++i) {
      bool goes_back = false;
      for (; jump < jumps_.jumps().size() && jumps_.jumps()[jump].allocation <= static_cast<int32_t>(i);
           ++jump) {
        const BackJump& one = jumps_.jumps()[jump];
        goes_back |= one.is_across(at) && !(lines_only && one.to == one.from && reach.first < reach.last);
      }
      const bool is_in = reach.has(inherited_[calls_.site[i]]);
      if (is_in && (goes_back || !was_in) && !loop.begin.push_back(calls_.event[i])) return false;
      was_in = is_in;
      if (is_in) last = i;
    }
    loop.end = calls_.event[last] + 1;
    loop.goes_on = last + 1 == calls_.site.size();
    loop.place = place_of(at, usual_reach(at));
    return true;
  }

  // Lines that half of the jumps across this one, the shortest, go between.
  [[nodiscard]] PlaceRange usual_reach(int32_t at) const {
    PlaceRange usual{at, at};
    // By length, those of functions of many lines as one.
    std::array<int32_t, 64> count{};
    const auto length = [&](const BackJump& jump) {
      return std::min(static_cast<size_t>(jump.from - jump.to), count.size() - 1);
    };
    int32_t all = 0;
    for (const BackJump& jump : jumps_.jumps()) {
      if (!jump.is_across(at)) continue;
      ++count[length(jump)];
      ++all;
    }
    size_t longest = 0;
    for (int32_t some = count[0]; some * 2 < all; some += count[longest]) ++longest;
    for (const BackJump& jump : jumps_.jumps()) {
      if (!jump.is_across(at) || length(jump) > longest) continue;
      usual.first = std::min(usual.first, jump.to);
      usual.last = std::max(usual.last, jump.from);
    }
    return usual;
  }

  [[nodiscard]] LoopPlace place_of(int32_t at, PlaceRange reach) const {
    LoopPlace loop;
    int32_t lines = at;
    if (reach.first == reach.last) {
      const int32_t most = largest_call(reach);
      if (most >= 0) {
        lines = most;
        reach = jumps_.function_of(most);
      }
    }
    const CallSite& one = site_at(lines);
    loop.function = one.frame;
    loop.call = one.caller <= CallSites::kRoot ? FrameId{} : calls_.sites[one.caller].frame;
    loop.first_line = calls_.line(jumps_.site_at(reach.first));
    loop.last_line = calls_.line(jumps_.site_at(reach.last));
    return loop;
  }

  bool note(NoLoop why) {
    why_not_ = std::max(why_not_, why);
    return false;
  }

  const model::Recording& recording_;
  const replay::BlockLives& lives_;
  CallSites calls_;
  BackJumps jumps_;
  Column<int32_t> inherited_{recording_.budget};         // per site
  Column<int32_t> visited_backward_{recording_.budget};  // sites
  Column<uint8_t> below_{recording_.budget};             // per site: see mark_below()
  size_t tried_ = 0;                                     // candidates
  Column<PlaceRange> held_{recording_.budget};           // lines that jumps hold together
  Column<uint8_t> looked_at_{recording_.budget};         // per place: as a line around an optimizer
  NoLoop why_not_ = NoLoop::no_repeat;
};

}  // namespace

Result<FoundLoop> find_loop(const model::Recording& recording, const replay::BlockLives& lives) {
  return LoopFinder(recording, lives).run();
}

}  // namespace gpustrata::analysis
