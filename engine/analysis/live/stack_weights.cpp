#include "engine/analysis/live/stack_weights.h"

#include <algorithm>
#include <utility>

#include "engine/analysis/live/weigh.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] When when_of(const WeightsAsked& asked) {
  const int32_t first = asked.from + 1, last = asked.to;
  switch (asked.of) {
    case BlocksOf::allocated:
      return {.born_from = first, .born_until = last};
    case BlocksOf::kept:
      return {.born_from = first, .born_until = last, .freed_from = last + 1};
    case BlocksOf::passed:
      return {.born_from = first, .born_until = last, .freed_until = last};
    case BlocksOf::moment:
    case BlocksOf::difference:
      break;
  }
  return When::alive(last);
}

class Weighing {
 public:
  Weighing(const BandsAsked& of, const WeightsAsked& asked, StackWeights& found)
      : of_(of),
        asked_(asked),
        found_(found),
        axis_(of.timeline.extent(replay::Axis::time) > 0 ? replay::Axis::time : replay::Axis::event) {
    found.in_time = axis_ == replay::Axis::time;
  }

  void run() {
    const replay::Bands& bands = of_.bands;
    const When when = when_of(asked_), before = When::alive(asked_.from);
    for (int32_t band = 0; band < bands.count(); ++band) {
      const int32_t born = bands.born[band], freed = bands.freed[band];
      const bool counts = when.has(born, freed);
      const bool counted = asked_.of == BlocksOf::difference && before.has(born, freed);
      const bool matched = of_.matched.empty() || of_.matched[static_cast<size_t>(band)] != 0;
      if ((!counts && !counted) || (!matched && of_.only_matched)) continue;
      StackWeight weight;
      if (counts) {
        weight.weight = weight_of(band, std::min(freed, asked_.to));
        weight.blocks = 1;
      }
      if (counted) {
        weight.before = weight_of(band, asked_.from);
        weight.blocks_before = 1;
      }
      if (matched) weight.lit = weight.weight;
      add(of_.stacks[static_cast<size_t>(band)], weight);
    }
  }

 private:
  void add(StackId stack, const StackWeight& weight) {
    const int32_t leaf = stack.is_none() ? -1 : of_.recording.stacks.leaf(stack);
    (leaf < 0 ? found_.without : found_.of_node[leaf]).add(weight);
    found_.all.add(weight);
  }
  [[nodiscard]] double weight_of(int32_t band, int32_t until) const {
    if (asked_.by == WeightBy::blocks) return 1;
    const auto bytes = static_cast<double>(of_.bands.size[band]);
    if (asked_.by == WeightBy::bytes) return bytes;
    const int64_t lived =
        of_.timeline.position(axis_, until) - of_.timeline.position(axis_, of_.bands.born[band]);
    return bytes * static_cast<double>(lived);
  }

  const BandsAsked& of_;
  const WeightsAsked& asked_;
  StackWeights& found_;
  replay::Axis axis_;
};

}  // namespace

bool find_stack_weights(const BandsAsked& of, const WeightsAsked& asked, StackWeights& found) {
  if (!found.of_node.resize(of.recording.stacks.node_count(), StackWeight{})) return false;
  Weighing(of, asked, found).run();
  return true;
}

RangeTotals find_range_totals(const replay::Bands& bands, int32_t from, int32_t to) {
  RangeTotals totals;
  totals.from = from;
  totals.to = std::max(from, to);
  totals.level_before = bands.level_after(from);
  totals.level_after = bands.level_after(totals.to);
  totals.peak = totals.level_before;
  totals.peak_event = from;
  for (int32_t event = from + 1; event <= totals.to; ++event) {
    if (bands.level[event] <= totals.peak) continue;
    totals.peak = bands.level[event];
    totals.peak_event = event;
  }
  const auto of = [&](BlocksOf blocks) { return when_of({.of = blocks, .from = from, .to = totals.to}); };
  const std::pair<RangeTotals::Sum*, When> sums[] = {
      {&totals.allocated, of(BlocksOf::allocated)},
      {&totals.kept, of(BlocksOf::kept)},
      {&totals.passed, of(BlocksOf::passed)},
      {&totals.freed, {.freed_from = from + 1, .freed_until = totals.to}}};
  for (int32_t band = 0; band < bands.count(); ++band) {
    for (const auto& [sum, when] : sums) {
      if (!when.has(bands.born[band], bands.freed[band])) continue;
      add_saturated(sum->bytes, bands.size[band]);
      ++sum->blocks;
    }
  }
  return totals;
}

}  // namespace gpustrata::analysis
