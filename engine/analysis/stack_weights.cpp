#include "engine/analysis/stack_weights.h"

#include <algorithm>

#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

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
    const bool is_range = asked_.of != BlocksOf::moment && asked_.of != BlocksOf::difference;
    const int32_t last = asked_.of == BlocksOf::difference ? std::max(asked_.from, asked_.to) : asked_.to;
    for (int32_t band = 0; band < bands.count(); ++band) {
      const int32_t born = bands.born[band];
      if (born > last || (is_range && born <= asked_.from)) continue;
      const bool matched = of_.matched.empty() || of_.matched[static_cast<size_t>(band)] != 0;
      if (!matched && of_.only_matched) continue;
      StackWeight weight;
      if (is_range) {
        const bool kept = bands.freed[band] > asked_.to;
        if (asked_.of != BlocksOf::allocated && kept != (asked_.of == BlocksOf::kept)) continue;
        weight.weight = weight_of(band, kept ? asked_.to : bands.freed[band]);
        weight.blocks = 1;
      } else {
        if (bands.is_live_after(band, asked_.to)) {
          weight.weight = weight_of(band, asked_.to);
          weight.blocks = 1;
        }
        if (asked_.of == BlocksOf::difference && bands.is_live_after(band, asked_.from)) {
          weight.before = weight_of(band, asked_.from);
          weight.blocks_before = 1;
        }
        if (weight.blocks + weight.blocks_before == 0) continue;
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
  const auto add = [](RangeTotals::Sum& sum, int64_t bytes) {
    add_saturated(sum.bytes, bytes);
    ++sum.blocks;
  };
  for (int32_t band = 0; band < bands.count(); ++band) {
    const int64_t size = bands.size[band];
    const int32_t born = bands.born[band], freed = bands.freed[band];
    const bool made = born > from && born <= totals.to;
    if (made) {
      add(totals.allocated, size);
      add(freed > totals.to ? totals.kept : totals.passed, size);
    }
    if (freed > from && freed <= totals.to) add(totals.freed, size);
  }
  return totals;
}

}  // namespace gpustrata::analysis
