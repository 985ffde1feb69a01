#include "engine/analysis/steps/leaks.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "engine/analysis/stacks/shown_stacks.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

// A change of what a group holds between one point and the next.
struct HeldChange {
  int32_t group, point;
  int64_t bytes, blocks;
};

struct Growth {
  int32_t step;
  int64_t bytes, blocks;
};

[[nodiscard]] int64_t median(std::vector<int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class LeakFinder {
 public:
  LeakFinder(const model::Recording& recording, const replay::BlockLives& lifetimes,
             const Column<StackId>& stacks, const Steps& steps)
      : lives_(lifetimes),
        stacks_(stacks),
        steps_(steps),
        groups_(recording),
        points_(recording.budget),
        changes_(recording.budget),
        leak_of_group_(recording.budget),
        recording_(recording) {}

  [[nodiscard]] Result<Leaks> run() {
    Leaks found;
    const bool sure = steps_.from == StepsFrom::annotations || steps_.from == StepsFrom::regions;
    if (steps_.from == StepsFrom::nothing || steps_.count() < (sure ? kFewestGrowths : kFewestGrowths + 1))
      return found;
    if (!set_points() || !collect() || !judge(found)) return no_memory();
    if (steps_.from == StepsFrom::period && found.leaks.size() >= 4 &&
        static_cast<int64_t>(found.leaks.size()) * 3 >= steps_.call_sites) {
      return Leaks();
    }
    if (!add_live_blocks(found)) return no_memory();
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

  // The events after which is looked: before each step, and after the last.
  [[nodiscard]] bool set_points() {
    for (const int32_t begin : steps_.begin) {
      if (!points_.push_back(begin - 1)) return false;
    }
    return points_.push_back(std::max(steps_.end, steps_.begin.back()) - 1);
  }
  [[nodiscard]] int32_t point_after(int32_t event) const {
    return static_cast<int32_t>(std::lower_bound(points_.begin(), points_.end(), event) - points_.begin());
  }

  [[nodiscard]] bool collect() {
    if (!groups_.prepare(recording_)) return false;
    const auto last = static_cast<int32_t>(points_.size());
    for (int32_t rank = lives_.from_start; rank < lives_.count(); ++rank) {
      const auto r = static_cast<size_t>(rank);
      const int32_t from = point_after(lives_.born[r]);
      if (from >= last || lives_.freed[r] <= points_[from]) continue;
      const int32_t until = point_after(lives_.freed[r]);
      const int32_t group = groups_(stacks_[rank]);
      if (group < 0 || !changes_.push_back({group, from, lives_.size[r], 1})) return false;
      if (until < last && !changes_.push_back({group, until, -lives_.size[r], -1})) return false;
    }
    std::sort(changes_.data(), changes_.data() + changes_.size(),
              [](const HeldChange& a, const HeldChange& b) {
                return std::tie(a.group, a.point) < std::tie(b.group, b.point);
              });
    return true;
  }

  [[nodiscard]] bool judge(Leaks& found) {
    if (!leak_of_group_.resize(static_cast<size_t>(groups_.count()), -1)) return false;
    std::vector<Growth> growths;  // of one group: at most one a step
    Charge charge(recording_.budget);
    if (!charge.more(static_cast<int64_t>(points_.size() * (sizeof(Growth) + 2 * sizeof(int64_t)))))
      return false;
    for (size_t i = 0; i < changes_.size();) {
      const int32_t group = changes_[i].group;
      growths.clear();
      while (i < changes_.size() && changes_[i].group == group) {
        Growth net{changes_[i].point - 1, 0, 0};
        for (const int32_t point = changes_[i].point;
             i < changes_.size() && changes_[i].group == group && changes_[i].point == point; ++i) {
          add_saturated(net.bytes, changes_[i].bytes);
          net.blocks += changes_[i].blocks;
        }
        if (net.step < 0) continue;  // was there before the first step
        if (net.bytes < 0 || net.blocks < 0) {
          growths.clear();
        } else if (net.bytes > 0 && net.blocks > 0) {
          growths.push_back(net);
        }
      }
      constexpr int64_t kLeakBytes = 128;
      const auto leak = leak_in(growths);
      if (!leak) continue;
      if (!charge.more(kLeakBytes)) return false;
      leak_of_group_[group] = static_cast<int32_t>(found.leaks.size());
      found.leaks.push_back(*leak);
      found.leaks.back().stack = groups_.stack_of(group);
    }
    return true;
  }

  [[nodiscard]] std::optional<Leak> leak_in(std::span<const Growth> growths) const {
    constexpr int32_t kSomeSteps = 6;
    const int32_t count = steps_.count();
    const int32_t last_whole = steps_.last_is_whole ? count - 1 : count - 2;
    const int32_t least_last = count >= kSomeSteps ? last_whole - 1 : last_whole;
    if (growths.empty() || growths.back().step < least_last) return std::nullopt;
    size_t first = growths.size() - 1;
    while (first > 0 && growths[first].step - growths[first - 1].step <= 2) --first;
    const auto share_since = [&](size_t from) {
      return static_cast<double>(growths.size() - from) /
             static_cast<double>(growths.back().step - growths[from].step + 1);
    };
    while (first + 1 < growths.size() && share_since(first) < 0.6) ++first;
    const std::span<const Growth> all = growths.subspan(first);
    if (static_cast<int32_t>(all.size()) < kFewestGrowths || static_cast<int64_t>(all.size()) * 5 < count)
      return std::nullopt;
    std::vector<int64_t> bytes, blocks;
    for (const Growth& growth : all) {
      bytes.push_back(growth.bytes);
      blocks.push_back(growth.blocks);
    }
    Leak leak;
    leak.bytes_per_step = median(std::move(bytes));
    leak.blocks_per_step = median(std::move(blocks));
    leak.steps = static_cast<int32_t>(all.size());
    leak.first_step = all.front().step;
    const double repeated = 1 - std::exp2(1.0 - static_cast<double>(all.size()));
    leak.confidence = std::round(100 * steps_.sureness * repeated * share_since(first)) / 100;
    return leak;
  }

  [[nodiscard]] bool add_live_blocks(Leaks& found) {
    Column<int64_t> largest(recording_.budget);
    if (!largest.resize(found.leaks.size(), -1)) return false;
    for (int32_t rank = lives_.from_start; rank < lives_.count(); ++rank) {
      const auto r = static_cast<size_t>(rank);
      if (lives_.freed[r] < lives_.events.count) continue;
      const int32_t group = groups_(stacks_[rank]);
      if (group < 0) return false;
      if (static_cast<size_t>(group) >= leak_of_group_.size() || leak_of_group_[group] < 0) continue;
      const int32_t number = leak_of_group_[group];
      Leak& leak = found.leaks[static_cast<size_t>(number)];
      if (lives_.born[r] < steps_.begin[leak.first_step]) continue;
      add_saturated(leak.live_bytes, lives_.size[r]);
      ++leak.live_blocks;
      if (lives_.size[r] <= largest[number]) continue;
      largest[number] = lives_.size[r];
      leak.largest_rank = rank;
    }
    return true;
  }

  const replay::BlockLives& lives_;
  const Column<StackId>& stacks_;
  const Steps& steps_;
  StackGroups groups_;
  Column<int32_t> points_;      // ascending
  Column<HeldChange> changes_;  // by group, then point
  Column<int32_t> leak_of_group_;
  const model::Recording& recording_;
};

}  // namespace

Result<Leaks> find_leaks(const model::Recording& recording, const replay::BlockLives& lifetimes,
                         const Column<StackId>& stacks, const Steps& steps) {
  return LeakFinder(recording, lifetimes, stacks, steps).run();
}

bool are_sure(const Leaks& leaks, const Steps& steps) {
  return steps.from != StepsFrom::period ||
         std::any_of(leaks.leaks.begin(), leaks.leaks.end(),
                     [](const Leak& leak) { return leak.confidence >= kSureLeak; });
}

}  // namespace gpustrata::analysis
