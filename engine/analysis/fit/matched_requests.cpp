#include "engine/analysis/fit/matched_requests.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/analysis/fit/run_log.h"
#include "engine/base/memory_refused.h"

namespace gpustrata::analysis {

namespace {

// Turns at the ends of a repeat that are requests of their own: as few as it takes, since a first turn makes what the others find,
// and a last one frees what they leave.
struct Ends {
  int32_t before, after;
};
constexpr std::array<Ends, 9> kEnds{{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 3}, {4, 4}}};

class Matching {
 public:
  Matching(std::span<const RequestsToMatch> all, Budget& budget) : all_(all), budget_(budget) {
    found_.recordings = all.size();
  }

  [[nodiscard]] Result<MatchedRequests> run() {
    std::vector<FoundRepeat> repeats;
    if (auto status = read_requests(all_, found_.outline, repeats, budget_); !status)
      return tl::unexpected(status.error());
    std::optional<Error> untold;
    for (const Ends& ends : kEnds) {
      auto status = outline_requests(repeats, ends.before, ends.after, found_.outline, budget_);
      if (!status) return tl::unexpected(status.error());
      auto deaths = find_deaths(found_.outline, budget_);
      if (!deaths) return tl::unexpected(deaths.error());
      found_.deaths = std::move(*deaths);
      untold.reset();
      if (found_.deaths.untold >= 0) {
        untold = untold_death(found_.deaths.untold);
        continue;
      }
      if (!describe_requests()) return no_memory();
      const auto request = find_steps();
      if (!request) return no_memory();
      if (*request < 0) break;
      untold = untold_size(*request);
    }
    if (untold) return tl::unexpected(*untold);
    found_.freed_differently = found_.deaths.freed_differently;
    for (size_t r = 0; r < all_.size(); ++r) {
      count_flushes(r);
      for (const OutlinedRepeat& one : found_.outline.repeats) {
        const auto waits = found_.outline.asked[r].waits.span().subspan(
            static_cast<size_t>(one.begin[r]), static_cast<size_t>(one.times[r] * one.period));
        found_.waits_in_turns = found_.waits_in_turns || std::any_of(waits.begin(), waits.end(),
                                                                     [](int64_t wait) { return wait >= 0; });
      }
    }
    if (auto status = check_peaks(); !status) return tl::unexpected(status.error());
    return std::move(found_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> no_memory() const {
    return memory_refused(budget_, "to match the requests");
  }
  [[nodiscard]] Error untold_death(int32_t request) const {
    return fail(
               ErrorCode::wrong_usage, -1,
               "it cannot be told: the recordings repeat a part of the program a different number of times, and the blocks "
               "of {} (request {}) are not freed by one rule in its turns. Record with more turns, or with as many in each",
               found_.outline.line_of(request), request)
        .value();
  }
  [[nodiscard]] Error untold_size(int32_t request) const {
    return fail(
               ErrorCode::wrong_usage, -1,
               "it cannot be told: the recordings repeat a part of the program a different number of times, and the sizes "
               "of {} (request {}) do not stay the same from turn to turn, nor grow by the same. Record with more turns, or "
               "with as many in each",
               found_.outline.line_of(request), request)
        .value();
  }

  void count_flushes(size_t recording) {
    const Outline& outline = found_.outline;
    const simulate::RequestLog& log = all_[recording].requests.log;
    std::map<std::pair<int32_t, int32_t>, std::set<int32_t>> turns;  // by repeat and place in its turns
    int32_t seen = outline.asked[recording].before;
    for (auto row = static_cast<size_t>(all_[recording].requests.present);
         row < log.size_rows() && seen <= outline.ends[recording]; ++row) {
      if (log.request[row] == simulate::Request::allocate) ++seen;
      if (log.request[row] != simulate::Request::empty_cache) continue;
      const Turn turn = outline.turn_of(recording, seen);
      if (outline.is_between(recording, turn)) turns[{turn.repeat, turn.at}].insert(turn.turn);
    }
    for (const auto& [place, seen_in] : turns) {
      const int32_t all = outline.repeats[static_cast<size_t>(place.first)].between(recording);
      if (static_cast<int32_t>(seen_in.size()) < all) ++found_.flushed_at_times;
    }
  }

  // What is left out of a recording must not hold its peak.
  [[nodiscard]] Status check_peaks() {
    for (size_t r = 0; r < all_.size(); ++r) {
      const AskedRequests& asked = found_.outline.asked[r];
      const int32_t end = found_.outline.ends[r];
      found_.left_out += asked.count() - end;
      if (asked.count() == end) continue;
      const simulate::RequestLog& log = all_[r].requests.log;
      const RequestedPeak peak = requested_peak(log, log.size.span());
      if (peak.row >= asked.row[end])
        return fail(
            ErrorCode::wrong_usage, -1,
            "{} makes {} requests more than the others, and has its peak among them. Record as many steps "
            "with each size",
            all_[r].name, asked.count() - end);
    }
    return {};
  }

  [[nodiscard]] int64_t size_of(size_t recording, int32_t own) const {
    return all_[recording].requests.log.size[found_.outline.asked[recording].row[own]];
  }

  [[nodiscard]] bool describe_requests() {
    const Outline& outline = found_.outline;
    found_.size.clear();
    found_.source.clear();
    found_.stack.clear();
    found_.before = 0;
    found_.unmatched = found_.without_stack = 0;
    for (int32_t request = 0; request < outline.count(); ++request) {
      bool is_everywhere = true;
      for (size_t r = 0; r < all_.size(); ++r) {
        const int32_t own = outline.own_of(request, r);
        if (!found_.size.push_back(own < 0 ? 0 : size_of(r, own))) return false;
        is_everywhere = is_everywhere && own >= 0;
      }
      const size_t source = outline.source_of(request);
      const int32_t own = outline.own_of(request, source);
      found_.unmatched += is_everywhere ? 0 : 1;
      found_.before += own < outline.asked[source].before ? 1 : 0;
      const StackId stack = all_[source].requests.log.stack[outline.asked[source].row[own]];
      if (!found_.source.push_back(static_cast<uint8_t>(source)) || !found_.stack.push_back(stack))
        return false;
      if (stack.is_none() || all_[source].recording.stacks.leaf(stack) < 0) ++found_.without_stack;
    }
    return true;
  }

  // How sizes change from turn to turn. The first request of which it cannot be said; -1 = it can of all; none = no memory.
  [[nodiscard]] std::optional<int32_t> find_steps() {
    const Outline& outline = found_.outline;
    found_.step.clear();
    found_.sized_as.clear();
    for (const OutlinedRepeat& one : outline.repeats) {
      for (int32_t at = 0; at < one.period; ++at) {
        if (!is_alike(one, at)) return one.first + at;
      }
    }
    bool any = false;
    for (const OutlinedRepeat& one : outline.repeats) {
      for (int32_t at = 0; at < one.period; ++at) {
        std::vector<int64_t> steps(all_.size());
        if (!steps_of_turns(one, at, steps)) return one.first + at;
        if (std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step == 0; })) continue;
        if (!std::exchange(any, true) && !begin_steps()) return std::nullopt;
        std::copy(steps.begin(), steps.end(),
                  found_.step.data() + static_cast<size_t>(one.first + at) * all_.size());
        size_ends_alike(one, at, steps);
      }
    }
    return -1;
  }
  [[nodiscard]] bool begin_steps() {
    const int32_t count = found_.outline.count();
    if (!found_.step.resize(static_cast<size_t>(count) * all_.size(), 0)) return false;
    for (int32_t request = 0; request < count; ++request) {
      if (!found_.sized_as.push_back(request)) return false;
    }
    return true;
  }
  [[nodiscard]] int64_t size_in_turn(const OutlinedRepeat& one, size_t recording, int32_t turn,
                                     int32_t at) const {
    return size_of(recording, one.begin[recording] + turn * one.period + at);
  }

  // Do the sizes of all turns between grow by the same, in each recording?
  [[nodiscard]] bool is_alike(const OutlinedRepeat& one, int32_t at) const {
    for (size_t r = 0; r < all_.size(); ++r) {
      const int32_t end = one.times[r] - one.after;
      for (int32_t turn = one.before + 2; turn < end; ++turn) {
        const int64_t size = size_in_turn(one, r, turn, at), before = size_in_turn(one, r, turn - 1, at);
        if (size - before != before - size_in_turn(one, r, turn - 2, at)) return false;
      }
    }
    return true;
  }
  // False: some recording has too few turns between to say it, while others grow.
  [[nodiscard]] bool steps_of_turns(const OutlinedRepeat& one, int32_t at, std::vector<int64_t>& steps) {
    bool grows = false, is_known = true;
    for (size_t r = 0; r < all_.size(); ++r) {
      const int32_t between = one.between(r);
      if (between >= 2) {
        steps[r] = size_in_turn(one, r, one.before + 1, at) - size_in_turn(one, r, one.before, at);
        grows = grows || steps[r] != 0;
      } else if (between == 1 && one.after > 0) {
        steps[r] = size_in_turn(one, r, one.before + 1, at) - size_in_turn(one, r, one.before, at);
        is_known = false;  // a last turn may be another
      } else {
        is_known = false;
      }
    }
    if (!grows) {
      // As far as it is known none grows; what stands in for turns between must then be as large as they.
      std::fill(steps.begin(), steps.end(), 0);
      return stands_in_alike(one, at);
    }
    if (is_known) return true;
    for (size_t r = 0; r < all_.size(); ++r) {
      if (one.between(r) == 0 || (one.between(r) == 1 && one.after == 0)) return false;
    }
    return true;
  }
  // A turn at an end that stands in for turns between: in the recordings that have such, is it as large as they are?
  [[nodiscard]] bool stands_in_alike(const OutlinedRepeat& one, int32_t at) const {
    const bool any = std::any_of(all_.begin(), all_.end(), [&](const RequestsToMatch& of) {
      return one.between(static_cast<size_t>(&of - all_.data())) == 0;
    });
    for (size_t r = 0; any && r < all_.size(); ++r) {
      if (one.between(r) == 0) continue;
      const int32_t turn = one.after > 0 ? one.times[r] - one.after : one.before - 1;
      if (size_in_turn(one, r, turn, at) != size_in_turn(one, r, one.before, at)) return false;
    }
    return true;
  }
  // The turns at the ends that go on as those between do.
  void size_ends_alike(const OutlinedRepeat& one, int32_t at, const std::vector<int64_t>& steps) {
    const int32_t request = one.first + at;
    const auto look = [&](int32_t same, const auto& turn_of) {
      for (size_t r = 0; r < all_.size(); ++r) {
        const int64_t turn = turn_of(r);
        if (found_.sizes_of(same)[r] != found_.sizes_of(request)[r] + (turn - one.before) * steps[r]) return;
      }
      found_.sized_as[same] = request;
    };
    for (int32_t turn = 0; turn < one.before; ++turn)
      look(request - (one.before - turn) * one.period, [&](size_t) { return turn; });
    for (int32_t turn = 0; turn < one.after; ++turn)
      look(request + (1 + turn) * one.period, [&](size_t r) { return one.times[r] - one.after + turn; });
  }

  std::span<const RequestsToMatch> all_;
  Budget& budget_;
  MatchedRequests found_{budget_};
};

}  // namespace

Result<MatchedRequests> match_requests(std::span<const RequestsToMatch> all, Budget& budget) {
  return Matching(all, budget).run();
}

}  // namespace gpustrata::analysis
