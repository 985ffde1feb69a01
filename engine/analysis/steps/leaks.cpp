#include "engine/analysis/steps/leaks.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>

#include "engine/analysis/stacks/own_frame.h"
#include "engine/analysis/stacks/shown_stacks.h"
#include "engine/analysis/steps/call_sites.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

// A block that outlives the last step.
struct Survivor {
  int32_t group, step;
  int64_t bytes;
  bool is_late;  // freed right behind the last step, before anything else is asked for
};

// A block that was kept for long and given back, or is_late above: when.
struct Return {
  int32_t group, step;
  auto operator<=>(const Return&) const = default;
};

// What a group kept of a step.
struct Growth {
  int32_t step;
  int64_t bytes, blocks;
};

constexpr double kUnsureOptimizer = 0.5;  // below kSureLeak

class LeakFinder {
 public:
  LeakFinder(const model::Recording& recording, const replay::BlockLives& lifetimes,
             const Column<StackId>& stacks, const Steps& steps)
      : recording_(recording),
        lives_(lifetimes),
        stacks_(stacks),
        steps_(steps),
        end_(steps.begin.empty() ? steps.end : std::max(steps.end, steps.begin.back())),
        is_loop_(steps.from == StepsFrom::loop),
        groups_(recording) {}

  [[nodiscard]] Result<Leaks> run() {
    Leaks found;
    if (steps_.from == StepsFrom::nothing || steps_.count() < kFewestGrowths + (is_loop_ ? 1 : 0))
      return found;
    found.level_rises = level_rises();
    if (!collect() || !judge(found) || !look_at_blocks(found) || !find_inner_loops(found)) return no_memory();
    std::stable_sort(found.leaks.begin(), found.leaks.end(), [](const Leak& a, const Leak& b) {
      return std::tuple(-a.live_bytes, -a.live_blocks) < std::tuple(-b.live_bytes, -b.live_blocks);
    });
    for (const Leak& leak : found.leaks) add_saturated(found.live_bytes, leak.live_bytes);
    if (found.leaks.size() > kMostLeaks) {
      found.left_out = static_cast<int64_t>(found.leaks.size() - kMostLeaks);
      found.leaks.resize(kMostLeaks);
    }
    return found;
  }

 private:
  static tl::unexpected<Error> no_memory() {
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to look for leaks.");
  }

  // -1 = before the first.
  [[nodiscard]] int32_t step_of(int32_t event) const {
    return static_cast<int32_t>(std::upper_bound(steps_.begin.begin(), steps_.begin.end(), event) -
                                steps_.begin.begin()) -
           1;
  }

  // Before each step against before the last one.
  [[nodiscard]] bool level_rises() const {
    constexpr int32_t kFewestSteps = 10;
    const int32_t count = steps_.count(), from = count / 2;
    if (count < kFewestSteps) return false;
    const auto level_before = [&](int32_t step) { return lives_.level_after(steps_.begin[step] - 1); };
    int32_t rises = 0;
    for (int32_t step = from; step < count; ++step)
      rises += level_before(step) > level_before(step - 1) ? 1 : 0;
    return rises * 5 >= (count - from) * 4;
  }

  [[nodiscard]] bool collect() {
    if (!groups_.prepare(recording_)) return false;
    const auto* const behind =
        std::lower_bound(lives_.born.begin() + lives_.from_start, lives_.born.end(), end_);
    const int32_t next_request = behind == lives_.born.end() ? lives_.events.count : *behind;
    for (int32_t rank = lives_.from_start; rank < lives_.count(); ++rank) {
      const int32_t born = lives_.born[rank], freed = lives_.freed[rank];
      if (born < steps_.begin[0] || born >= end_) continue;
      const int32_t step = step_of(born);
      constexpr int32_t kLong = 2;
      if (freed < end_ && step_of(freed) < step + kLong) continue;
      const int32_t group = groups_(stacks_[rank]);
      if (group < 0) return false;
      if (freed >= end_) {
        if (!survivors_.push_back({group, step, lives_.size[rank], freed < next_request})) return false;
        continue;
      }
      if (!returns_.push_back({group, step_of(freed)})) return false;
      if (static_cast<size_t>(group) >= returned_.size() &&
          !returned_.resize(static_cast<size_t>(group) + 1, 0))
        return false;
      ++returned_[group];
    }
    std::sort(survivors_.data(), survivors_.data() + survivors_.size(),
              [](const Survivor& a, const Survivor& b) {
                return std::tie(a.group, a.step) < std::tie(b.group, b.step);
              });
    std::sort(returns_.data(), returns_.data() + returns_.size());
    return returned_.resize(static_cast<size_t>(groups_.count()), 0) &&
           leak_of_group_.resize(static_cast<size_t>(groups_.count()), -1);
  }

  // Twice: what grows in one step of several needs longer to be seen by itself.
  [[nodiscard]] bool judge(Leaks& found) { return judge(found, false) && judge(found, true); }

  // `others`: groups that are no leak so far, of what leaks for sure but is called from another line.
  [[nodiscard]] bool judge(Leaks& found, bool others) {
    const size_t before = found.leaks.size();
    std::vector<Growth> growths;  // of one group: at most one a step
    Charge charge(recording_.budget);
    if (!charge.more(static_cast<int64_t>(steps_.begin.size() * (sizeof(Growth) + sizeof(int32_t)))))
      return false;
    for (size_t i = 0; i < survivors_.size();) {
      const int32_t group = survivors_[i].group;
      growths.clear();
      int64_t late = 0, survive = 0;
      while (i < survivors_.size() && survivors_[i].group == group) {
        Growth all{survivors_[i].step, 0, 0};
        for (; i < survivors_.size() && survivors_[i].group == group && survivors_[i].step == all.step; ++i) {
          add_saturated(all.bytes, survivors_[i].bytes);
          ++all.blocks;
          ++survive;
          if (survivors_[i].is_late) ++late;
        }
        if (all.bytes > 0) growths.push_back(all);
      }
      constexpr int64_t kLeakBytes = 160;
      if (others && (leak_of_group_[group] >= 0 || !is_called_elsewhere(found, before, group))) continue;
      // All at once is the end of the list that kept them.
      if (has_stopped(growths, group, late < survive ? late : 0)) continue;
      const auto leak = leak_in(growths, returned_[group], others ? kFewestGrowths - 1 : kFewestGrowths);
      if (!leak || (others && leak->gap == 1)) continue;
      if (!charge.more(kLeakBytes)) return false;
      leak_of_group_[group] = static_cast<int32_t>(found.leaks.size());
      found.leaks.push_back(*leak);
      found.leaks.back().stack = groups_.stack_of(group);
      // The state of parameters that are trained later than others grows as a leak does, until all have it.
      if (is_of_optimizer(groups_.stack_of(group)))
        found.leaks.back().confidence = std::min(found.leaks.back().confidence, kUnsureOptimizer);
    }
    return true;
  }

  // In the last step in which it grew, as much was given back: the last n of something, when there were few more.
  [[nodiscard]] bool has_stopped(std::span<const Growth> growths, int32_t group, int64_t late) const {
    if (growths.empty()) return false;
    const Growth& last = growths.back();
    const auto returned = std::equal_range(returns_.begin(), returns_.end(), Return{group, last.step});
    return returned.second - returned.first + (last.step == steps_.count() - 1 ? late : 0) >= last.blocks;
  }

  // An optimizer of PyTorch asks, not the program that it calls back (a closure).
  [[nodiscard]] bool is_of_optimizer(StackId stack) const {
    if (stack.is_none()) return false;
    for (int32_t node = recording_.stacks.leaf(stack); node >= 0;
         node = recording_.stacks.node(node).caller) {
      const FrameId frame = recording_.stacks.node(node).frame;
      const std::string_view file = recording_.strings.view(recording_.frames[frame].filename);
      if (file.find("torch/optim/") != std::string_view::npos ||
          file.find("torch\\optim\\") != std::string_view::npos)
        return true;
      if (origin_of(recording_, frame) == Origin::own) return false;
    }
    return false;
  }

  // One of the first `count` leaks is sure and has the same inner half of its stack.
  [[nodiscard]] bool is_called_elsewhere(const Leaks& found, size_t count, int32_t group) const {
    return std::any_of(
        found.leaks.begin(), found.leaks.begin() + static_cast<std::ptrdiff_t>(count), [&](const Leak& leak) {
          return leak.confidence >= kSureLeak && have_one_inner_half(leak.stack, groups_.stack_of(group));
        });
  }
  [[nodiscard]] bool have_one_inner_half(StackId a, StackId b) const {
    if (a.is_none() || b.is_none()) return false;
    const trace::StackTable& stacks = recording_.stacks;
    const auto caller = [&](int32_t node) { return node < 0 ? node : stacks.node(node).caller; };
    int32_t one = stacks.leaf(a), other = stacks.leaf(b);
    int32_t shared = 0, rest = 0;
    for (; one >= 0 && other >= 0 && stacks.node(one).frame == stacks.node(other).frame; ++shared) {
      one = caller(one);
      other = caller(other);
    }
    for (; one >= 0 && other >= 0; ++rest) {
      one = caller(one);
      other = caller(other);
    }
    return shared >= 2 && shared >= rest;
  }

  // What the first repeat keeps is of the same kind if it is about as much.
  [[nodiscard]] static std::span<const Growth> without_setting_up(std::span<const Growth> growths) {
    if (growths.empty() || growths[0].step != 0) return growths;
    if (growths.size() < 2 || growths[1].step == 0) return growths.subspan(1);
    const int64_t first = growths[0].bytes, second = growths[1].bytes;
    return first / 2 > second || second / 2 > first ? growths.subspan(1) : growths;
  }

  [[nodiscard]] static int32_t middle_gap(std::span<const Growth> growths) {
    std::vector<int32_t> gaps;
    for (size_t i = 1; i < growths.size(); ++i) gaps.push_back(growths[i].step - growths[i - 1].step);
    if (gaps.empty()) return 1;
    const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>((gaps.size() - 1) / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    return *middle;
  }

  [[nodiscard]] bool is_last(int32_t step) const {
    constexpr int32_t kLastSteps = 2;
    return step >= steps_.count() - kLastSteps;
  }

  // What is asked for in passing by the same stack is alive at the end, too, if it is of the last steps. Where every step
  // before keeps as many blocks, more than those of a last one are in passing, and as much as the most before counts.
  void add_growths(std::span<const Growth> all, Leak& leak) const {
    Growth most{-1, 0, 0};
    bool are_alike = true;
    for (const Growth& growth : all) {
      if (!is_last(growth.step)) {
        are_alike = are_alike && (most.blocks == 0 || growth.blocks == most.blocks);
        most.bytes = std::max(most.bytes, growth.bytes);
        most.blocks = growth.blocks;
      }
      const bool is_more = is_last(growth.step) && most.blocks > 0 && growth.blocks > most.blocks;
      const Growth& counted = is_more && are_alike ? most : growth;
      add_saturated(leak.live_bytes, std::min(counted.bytes, growth.bytes));
      leak.live_blocks += counted.blocks;
    }
  }

  [[nodiscard]] std::optional<Leak> leak_in(std::span<const Growth> growths, int64_t returned,
                                            int32_t fewest) const {
    constexpr int32_t kSomeSteps = 6;
    if (is_loop_) growths = without_setting_up(growths);
    if (growths.empty()) return std::nullopt;
    const int32_t count = steps_.count(), gap = middle_gap(growths);
    // The last of them without a pause.
    size_t first = growths.size() - 1;
    while (first > 0 && int64_t{growths[first].step} - growths[first - 1].step <= int64_t{2} * gap) --first;
    const auto regular_since = [&](size_t from) {
      const double due = 1 + static_cast<double>(growths.back().step - growths[from].step) / gap;
      return static_cast<double>(growths.size() - from) / due;
    };
    while (first + 1 < growths.size() && regular_since(first) < 0.6) ++first;
    const std::span<const Growth> all = growths.subspan(first);
    const auto counted = static_cast<int32_t>(all.size()) - (is_loop_ && all[0].step == 0 ? 1 : 0);
    if (counted < fewest || int64_t{all[0].step} * 2 > count) return std::nullopt;
    const int32_t since_last = count - 1 - all.back().step;
    const int32_t due_since = gap - 1 + (steps_.last_is_whole ? 0 : 1);
    if (since_last > due_since + (count >= kSomeSteps ? 1 : 0)) return std::nullopt;
    Leak leak;
    add_growths(all, leak);
    if (returned * 5 > leak.live_blocks) return std::nullopt;
    leak.steps = static_cast<int32_t>(all.size());
    leak.bytes_per_step = leak.live_bytes / leak.steps;
    leak.blocks_per_step = (leak.live_blocks + leak.steps / 2) / leak.steps;
    leak.first_step = all.front().step;
    leak.gap = gap;
    const double repeated = 1 - std::exp2(1.0 - static_cast<double>(all.size()));
    // A cache that has just filled looks so, too.
    const double goes_on = since_last > due_since ? 0.75 : 1.0;
    leak.confidence =
        std::round(100 * steps_.sureness * repeated * goes_on * std::min(1.0, regular_since(first))) / 100;
    return leak;
  }

  // The largest block, and what became of all of them after the steps; takes away what was handed on.
  [[nodiscard]] bool look_at_blocks(Leaks& found) {
    struct After {
      int64_t largest = -1, blocks = 0, freed = 0;
      int32_t first_free = 0, last_free = 0;
    };
    std::vector<After> after(found.leaks.size());
    Charge charge(recording_.budget);
    if (!charge.more(static_cast<int64_t>(after.size() * sizeof(After)))) return false;
    for (int32_t rank = lives_.from_start; rank < lives_.count(); ++rank) {
      if (lives_.freed[rank] < end_ || lives_.born[rank] >= end_) continue;
      const int32_t group = groups_(stacks_[rank]);
      if (group < 0) return false;
      if (static_cast<size_t>(group) >= leak_of_group_.size() || leak_of_group_[group] < 0) continue;
      const auto number = static_cast<size_t>(leak_of_group_[group]);
      Leak& leak = found.leaks[number];
      if (lives_.born[rank] < steps_.begin[leak.first_step]) continue;
      After& one = after[number];
      ++one.blocks;
      if (lives_.freed[rank] < lives_.events.count) {
        one.first_free = one.freed == 0 ? lives_.freed[rank] : std::min(one.first_free, lives_.freed[rank]);
        one.last_free = std::max(one.last_free, lives_.freed[rank]);
        ++one.freed;
      }
      // Of the last steps it may be in passing.
      if (lives_.size[rank] <= one.largest || (one.largest >= 0 && is_last(step_of(lives_.born[rank]))))
        continue;
      one.largest = lives_.size[rank];
      leak.largest_rank = rank;
    }
    size_t kept = 0;
    for (size_t i = 0; i < found.leaks.size(); ++i) {
      Leak& leak = found.leaks[i];
      const After& one = after[i];
      const bool is_gone = one.freed == one.blocks;
      if (is_gone && allocations(one.first_free, one.last_free) >= leak.steps) continue;
      if (is_gone) leak.freed_event = one.last_free;
      found.leaks[kept++] = leak;
    }
    found.leaks.resize(kept);
    return true;
  }

  [[nodiscard]] int64_t allocations(int32_t from, int32_t to) const {
    const auto begin = lives_.born.begin() + lives_.from_start;
    return std::lower_bound(begin, lives_.born.end(), to) - std::lower_bound(begin, lives_.born.end(), from);
  }

  // The outermost line of its stack that is come to so often a step that it keeps the same each time.
  [[nodiscard]] bool find_inner_loops(Leaks& found) {
    if (std::none_of(found.leaks.begin(), found.leaks.end(),
                     [](const Leak& leak) { return leak.blocks_per_step > 1 && leak.gap == 1; }))
      return true;
    CallSites calls(recording_);
    Column<int32_t> visits(recording_.budget);
    if (!calls.walk(lives_.events) || !visits.resize(calls.sites.size(), 0)) return false;
    int32_t before = CallSites::kRoot;
    for (size_t i = 0; i < calls.site.size(); ++i) {
      const int32_t here = calls.site[i];
      if (calls.event[i] >= steps_.begin[0] && calls.event[i] < end_) {
        if (here == before) ++visits[here];
        calls.each_entered(calls.parting(before, here), here, [&](int32_t site) { ++visits[site]; });
      }
      before = here;
    }
    for (Leak& leak : found.leaks) {
      if (leak.blocks_per_step < 2 || leak.gap != 1) continue;
      for (int32_t site = calls.of_stack(leak.stack); site != CallSites::kRoot;
           site = calls.sites[site].caller) {
        const int64_t often = visits[site], steps = steps_.count();
        const int64_t repeats = (often + steps / 2) / steps;
        if (repeats < 2 || leak.blocks_per_step % repeats != 0 ||
            std::abs(often - repeats * steps) * 10 > steps * repeats)
          continue;
        leak.inner = calls.sites[site].frame;
        leak.inner_repeats = static_cast<int32_t>(repeats);
      }
    }
    return true;
  }

  const model::Recording& recording_;
  const replay::BlockLives& lives_;
  const Column<StackId>& stacks_;
  const Steps& steps_;
  const int32_t end_;  // of the last step
  const bool is_loop_;
  StackGroups groups_;
  Column<Survivor> survivors_{recording_.budget};  // by group, then step
  Column<Return> returns_{recording_.budget};      // by group, then step
  // per group: blocks that were kept long and given back before the end
  Column<int32_t> returned_{recording_.budget};
  Column<int32_t> leak_of_group_{recording_.budget};
};

}  // namespace

Result<Leaks> find_leaks(const model::Recording& recording, const replay::BlockLives& lifetimes,
                         const Column<StackId>& stacks, const Steps& steps) {
  return LeakFinder(recording, lifetimes, stacks, steps).run();
}

size_t sure_leaks(const Leaks& leaks) {
  return static_cast<size_t>(std::count_if(leaks.leaks.begin(), leaks.leaks.end(),
                                           [](const Leak& leak) { return leak.confidence >= kSureLeak; }));
}

}  // namespace gpustrata::analysis
