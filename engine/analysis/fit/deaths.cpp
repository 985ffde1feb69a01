#include "engine/analysis/fit/deaths.h"

#include <algorithm>
#include <optional>

#include "engine/base/memory_refused.h"

namespace gpustrata::analysis {

namespace {

using Until = Death::Until;

// Rules that hold for all blocks so far.
class Rules {
 public:
  explicit Rules(const Outline& outline) : outline_(outline) {}

  // A block of an own request; `turn`: its own in a repeat.
  void add(size_t recording, int32_t own, int32_t turn) {
    ++blocks_;
    const AskedRequests& asked = outline_.asked[recording];
    const int32_t dies = asked.death[own];
    if (dies > outline_.ends[recording]) {
      can_ = {can_.never, false, false, false, false, false};
      return;
    }
    can_.never = false;
    const Turn after = outline_.turn_of(recording, dies - 1);
    const int32_t before = outline_.place[recording][dies - 1] + 1;
    if (outline_.is_between(recording, after)) can_.request = false;
    if (can_.request) can_.request = agrees(request_, before);
    if (after.repeat < 0 || !agrees(repeat_, after.repeat) || !agrees(at_, after.at))
      can_.from_start = can_.from_end = can_.later = can_.mirrored = false;
    if (after.repeat < 0) return;
    const int32_t to_end =
        outline_.repeats[static_cast<size_t>(after.repeat)].times[recording] - 1 - after.turn;
    can_.from_start = can_.from_start && agrees(from_start_, after.turn);
    can_.from_end = can_.from_end && agrees(from_end_, to_end);
    can_.later = can_.later && agrees(later_, after.turn - turn);
    can_.mirrored = can_.mirrored && agrees(mirrored_, to_end - turn);
  }

  // Of turns between: of what is the same in all of them, and told by two at least.
  [[nodiscard]] std::optional<Death> of_turns() const {
    if (blocks_ < 2) return std::nullopt;
    if (can_.never) return Death{};
    if (can_.later) return turn(Until::turns_later, later_.value);
    if (can_.mirrored) return turn(Until::turns_mirrored, mirrored_.value);
    if (can_.request) return Death{Until::request, request_.value, -1, 0, 0};
    return std::nullopt;
  }
  // Of a request of its own whose block is freed in a turn between.
  [[nodiscard]] std::optional<Death> in_turns() const {
    if (blocks_ < 2) return std::nullopt;
    if (can_.from_start) return turn(Until::turn_from_start, from_start_.value);
    if (can_.from_end) return turn(Until::turn_from_end, from_end_.value);
    return std::nullopt;
  }

 private:
  struct Known {
    bool is_known = false;
    int32_t value = 0;
  };
  [[nodiscard]] static bool agrees(Known& known, int32_t value) {
    if (!known.is_known) known = {true, value};
    return known.value == value;
  }
  [[nodiscard]] Death turn(Until until, int32_t count) const {
    return {until, 0, repeat_.value, at_.value, count};
  }

  const Outline& outline_;
  int32_t blocks_ = 0;
  struct {
    bool never = true, request = true, from_start = true, from_end = true, later = true, mirrored = true;
  } can_;
  Known request_, repeat_, at_, from_start_, from_end_, later_, mirrored_;
};

[[nodiscard]] std::optional<Death> death_between(const Outline& outline, int32_t request, int32_t repeat) {
  const OutlinedRepeat& of = outline.repeats[static_cast<size_t>(repeat)];
  Rules rules(outline);
  for (size_t r = 0; r < outline.all.size(); ++r) {
    for (int32_t turn = of.before; turn < of.times[r] - of.after; ++turn)
      rules.add(r, of.begin[r] + turn * of.period + request - of.first, turn);
  }
  return rules.of_turns();
}

}  // namespace

Result<Deaths> find_deaths(const Outline& outline, Budget& budget) {
  Deaths found(budget);
  const int32_t count = outline.count();
  for (int32_t request = 0; request < count; ++request) {
    const int32_t repeat = outline.repeat_of(request);
    std::optional<Death> death;
    if (repeat >= 0) {
      death = death_between(outline, request, repeat);
    } else {
      // First and last place that a recording allows.
      int32_t from = 0, until = kNotFreed;
      bool in_turns = false;
      Rules rules(outline);
      for (size_t r = 0; r < outline.all.size(); ++r) {
        const int32_t own = outline.own_of(request, r);
        if (own < 0) continue;
        rules.add(r, own, 0);
        const int32_t dies = outline.asked[r].death[own];
        const bool is_never = dies > outline.ends[r];
        in_turns = in_turns || (!is_never && outline.is_between(r, outline.turn_of(r, dies - 1)));
        from = std::max(from, is_never ? kNotFreed : outline.place[r][dies - 1] + 1);
        until = std::min(until, is_never ? kNotFreed : outline.place[r][dies]);
      }
      if (in_turns) {
        death = rules.in_turns();
      } else {
        // Behind the last request nothing depends on it.
        if (from > until && until < count) ++found.freed_differently;
        death = from == kNotFreed ? Death{} : Death{Until::request, from, -1, 0, 0};
      }
    }
    if (!death) {
      found.untold = request;
      return found;
    }
    if (!found.death.push_back(*death)) return memory_refused(budget, "to match the requests");
  }
  return found;
}

}  // namespace gpustrata::analysis
