#include "engine/analysis/fit/repeats.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "engine/base/column.h"
#include "engine/base/memory_refused.h"

namespace gpustrata::analysis {

namespace {

constexpr int64_t kMostRepeatComparisons = 100'000'000;
// Requests that agree behind the last turn; where another repeat follows there may be but one.
constexpr int32_t kBehind = 8;
// Requests among which what comes more often is looked for by its sizes.
constexpr int32_t kFarthestBack = 4096;
// Requests of one recording alone that are passed.
constexpr int32_t kMostAlone = 64;

// In both recordings something is repeated up to here.
struct Parting {
  int32_t end = 0;    // in the last recording
  int32_t other = 0;  // in the other
  int32_t period = 0;
  int32_t more = 0;  // turns that the last recording makes more; below 0 = less
};

// Whether a sequence repeats itself.
struct More {
  int32_t period = 0;
  int32_t length = 0;
  int32_t back = 0;  // it begins so many requests earlier
};

class Pairing {
 public:
  Pairing(const RequestSequence& last, const RequestSequence& other, Budget& budget)
      : last_(last), other_(other), place(budget) {}

  // False = no memory.
  [[nodiscard]] bool run() {
    if (!place.resize(last_.symbol.size(), -1)) return false;
    int32_t i = 0, j = 0;
    int32_t from_i = other_.before, from_j = last_.before;
    const int32_t other_count = count(other_), last_count = count(last_);
    while (i < other_count && j < last_count) {
      if (other_.symbol_of(i) == last_.symbol_of(j)) {
        place[j++] = i++;
        continue;
      }
      if (const auto more = more_of(last_, j, from_j, other_, i)) {
        // What was taken for it before is what follows.
        for (int32_t at = j - more->back; at < j + more->length; ++at)
          place[at] = at < j - more->back + more->length ? -1 : i - (j + more->length - at);
        j += more->length;
        found.push_back({j - more->back, i - more->back, more->period, more->length / more->period});
      } else if (const auto more_here = more_of(other_, i, from_i, last_, j)) {
        for (int32_t back = more_here->back; back > 0; --back) place[j - back] = i + more_here->length - back;
        i += more_here->length;
        found.push_back({j - more_here->back, i - more_here->back, more_here->period,
                         -more_here->length / more_here->period});
      } else {
        if (!pass(i, j)) break;
        continue;
      }
      from_i = i;
      from_j = j;
    }
    look_at_ends(i, j, from_i, from_j);
    return true;
  }

  std::vector<Parting> found;

 private:
  const RequestSequence& last_;
  const RequestSequence& other_;
  int64_t comparisons_ = 0;

 public:
  Column<int32_t> place;  // in the other, by request of the last; -1 = it is not there

 private:
  [[nodiscard]] static int32_t count(const RequestSequence& of) {
    return static_cast<int32_t>(of.symbol.size());
  }

  // A recording of more steps ends later, too: only what both repeated before, and as many turns more, counts there.
  void look_at_ends(int32_t i, int32_t j, int32_t from_i, int32_t from_j) {
    const auto is_known = [&](const std::optional<More>& more, int32_t sign) {
      return more && std::any_of(found.begin(), found.end(), [&](const Parting& one) {
               return one.period == more->period && one.more == sign * (more->length / more->period);
             });
    };
    if (i == count(other_) && j < count(last_)) {
      const auto more = more_of(last_, j, from_j, other_, i);
      if (is_known(more, 1)) found.push_back({count(last_), i, more->period, more->length / more->period});
    } else if (j == count(last_) && i < count(other_)) {
      const auto more = more_of(other_, i, from_i, last_, j);
      if (is_known(more, -1)) found.push_back({j, count(other_), more->period, -more->length / more->period});
    }
  }

  // From x on, does `in` repeat what it did before, at `from` the earliest, until it goes on as `as` does from y on?
  [[nodiscard]] std::optional<More> more_of(const RequestSequence& in, int32_t x, int32_t from,
                                            const RequestSequence& as, int32_t y) {
    const auto more = more_of(in, x, from, as, y, kBehind);
    return more ? more : more_of(in, x, from, as, y, 1);
  }
  [[nodiscard]] std::optional<More> more_of(const RequestSequence& in, int32_t x, int32_t from,
                                            const RequestSequence& as, int32_t y, int32_t behind) {
    std::optional<More> shortest;
    for (int32_t period = 1; period <= x - from && period <= count(in) - x; ++period) {
      if (++comparisons_ > kMostRepeatComparisons) return std::nullopt;
      if (in.symbol_of(x) != in.symbol_of(x - period)) continue;
      if (shortest && shortest->length % period != 0) continue;
      int32_t length = 1;
      while (x + length < count(in) && in.symbol_of(x + length) == in.symbol_of(x + length - period))
        ++length;
      comparisons_ += length;
      if (length % period != 0 || !agree(in, x + length, as, y, behind)) continue;
      More more{period, length, 0};
      if (find_alike_sizes(in, x, from, more)) return more;
      if (!shortest) shortest = more;
    }
    return shortest;
  }

  // Where requests around it have the same lines, what comes more often may be told from its sizes alone: all of its turns have the
  // same ones, or grow by the same.
  [[nodiscard]] bool find_alike_sizes(const RequestSequence& in, int32_t x, int32_t from, More& more) {
    const int32_t first = std::max(from + more.period, x - kFarthestBack);
    int32_t same = 0, alike = 0;  // so many in a row, from the end
    bool is_seen = false;
    for (int32_t at = x + more.length - 1; at >= first; --at) {
      ++comparisons_;
      if (in.symbol_of(at) != in.symbol_of(at - more.period)) break;
      const int64_t step = in.size_of(at) - in.size_of(at - more.period);
      const int32_t earlier = at - 2 * more.period;
      const bool has_earlier = earlier >= from && in.symbol_of(earlier) == in.symbol_of(at);
      same = step == 0 ? same + 1 : 0;
      const bool grows_alike = !has_earlier || in.size_of(at - more.period) - in.size_of(earlier) == step;
      alike = grows_alike ? alike + 1 : 0;
      is_seen = grows_alike && (is_seen || has_earlier);
      if (same < more.length && (alike < more.length || !is_seen)) continue;
      more.back = x - at;
      return more.back >= 0;
    }
    return false;
  }

  [[nodiscard]] bool agree(const RequestSequence& a, int32_t i, const RequestSequence& b, int32_t j,
                           int32_t most) {
    const int32_t left = std::min(count(a) - i, count(b) - j);
    if (left == 0) return count(a) == i && count(b) == j;
    const int32_t wanted = std::min(most, left);
    comparisons_ += wanted;
    return std::equal(a.symbol.begin() + i, a.symbol.begin() + i + wanted, b.symbol.begin() + j);
  }

  // The fewest requests after which both agree again.
  [[nodiscard]] bool pass(int32_t& i, int32_t& j) {
    for (int32_t distance = 1; distance <= kMostAlone; ++distance) {
      for (int32_t in_other = 0; in_other <= distance; ++in_other) {
        const int32_t in_last = distance - in_other;
        if (i + in_other > count(other_) || j + in_last > count(last_)) continue;
        if (++comparisons_ > kMostRepeatComparisons) return false;
        if (!agree(other_, i + in_other, last_, j + in_last, kBehind)) continue;
        i += in_other;
        j += in_last;
        return true;
      }
    }
    return false;
  }
};

// Whole turns before `end` that are the one that ends there in the last recording.
[[nodiscard]] int32_t turns_before(const RequestSequence& of, int32_t end, int32_t from,
                                   std::span<const int32_t> turn) {
  const auto period = static_cast<int32_t>(turn.size());
  int32_t turns = 0;
  while (end - period >= from && std::equal(turn.begin(), turn.end(), of.symbol.begin() + end - period)) {
    end -= period;
    ++turns;
  }
  return turns;
}

}  // namespace

Result<std::vector<FoundRepeat>> find_repeats(std::span<const RequestSequence> all, Budget& budget) {
  const size_t last = all.size() - 1;
  std::vector<Pairing> compared;
  for (size_t r = 0; r < last; ++r) {
    compared.emplace_back(all[last], all[r], budget);
    if (!compared.back().run()) return memory_refused(budget, "to look for repeated requests");
  }
  std::map<int32_t, int32_t> periods;  // by end in the last recording: the longest
  for (const Pairing& one : compared) {
    for (const Parting& parting : one.found)
      periods[parting.end] = std::max(periods[parting.end], parting.period);
  }
  std::vector<FoundRepeat> repeats;
  std::vector<int32_t> from(all.size());
  for (size_t r = 0; r < all.size(); ++r) from[r] = all[r].before;
  for (const auto& longest : periods) {
    const int32_t end = longest.first, period = longest.second;
    std::vector<int32_t> ends(all.size(), end), more(all.size());
    bool is_everywhere = end - period >= from[last];
    for (size_t r = 0; r < last && is_everywhere; ++r) {
      const auto parting = std::find_if(compared[r].found.begin(), compared[r].found.end(),
                                        [end = end](const Parting& one) { return one.end == end; });
      if (parting != compared[r].found.end()) {
        ends[r] = parting->other;
        more[r] = parting->more * parting->period;
        is_everywhere = more[r] % period == 0;
        more[r] /= period;
      } else {
        ends[r] = compared[r].place[end - 1] + 1;
        is_everywhere = ends[r] > 0;
      }
    }
    if (!is_everywhere) continue;
    const auto turn =
        all[last].symbol.subspan(static_cast<size_t>(end - period), static_cast<size_t>(period));
    int32_t times = INT32_MAX;
    for (size_t r = 0; r < all.size(); ++r)
      times = std::min(times, turns_before(all[r], ends[r], from[r], turn) + more[r]);
    FoundRepeat repeat;
    repeat.period = period;
    bool is_repeated = true;
    for (size_t r = 0; r < all.size(); ++r) {
      repeat.times.push_back(times - more[r]);
      repeat.begin.push_back(ends[r] - repeat.times[r] * period);
      is_repeated = is_repeated && repeat.times[r] > 0;
    }
    if (!is_repeated) continue;
    for (size_t r = 0; r < all.size(); ++r) from[r] = ends[r];
    repeats.push_back(std::move(repeat));
  }
  return repeats;
}

}  // namespace gpustrata::analysis
