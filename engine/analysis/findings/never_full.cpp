#include "engine/analysis/findings/never_full.h"

#include <algorithm>
#include <tuple>

#include "engine/base/saturating.h"
#include "engine/replay/ordered_set.h"

namespace gpustrata::analysis {

using replay::SpanHistory;

namespace {

// The spans that exist while the events go by, by address. Those that exist at once do not overlap.
class LiveSpans {
 public:
  LiveSpans(const SpanHistory& spans, Budget& budget)
      : spans_(spans), order_(budget), place_(budget), live_(budget) {}

  [[nodiscard]] bool build() {
    const auto count = static_cast<size_t>(spans_.count());
    if (!order_.resize(count, 0) || !place_.resize(count, 0) || !live_.build(count)) return false;
    for (size_t i = 0; i < count; ++i) order_[i] = static_cast<int32_t>(i);
    std::sort(order_.data(), order_.data() + count, [this](int32_t a, int32_t b) {
      return std::tuple(spans_.address[a], a) < std::tuple(spans_.address[b], b);
    });
    for (size_t i = 0; i < count; ++i) place_[order_[i]] = static_cast<int32_t>(i);
    return true;
  }
  void insert(int32_t row) { live_.insert(static_cast<size_t>(place_[row])); }
  void erase(int32_t row) { live_.erase(static_cast<size_t>(place_[row])); }

  // Calls `each(row, bytes in common)` for those that share bytes with [first, last].
  template <typename Each>
  void overlapping(uint64_t first, uint64_t last, Each&& each) const {
    const auto* const above =
        std::upper_bound(order_.begin(), order_.end(), first,
                         [this](uint64_t address, int32_t row) { return address < spans_.address[row]; });
    const auto from = static_cast<size_t>(above - order_.begin());
    if (const int64_t before = live_.before(from); before >= 0) {
      const int32_t row = order_[before];
      if (spans_.last_byte(row) >= first) each(row, in_common(row, first, last));
    }
    for (int64_t at = live_.at_or_after(from); at >= 0; at = live_.at_or_after(static_cast<size_t>(at) + 1)) {
      const int32_t row = order_[at];
      if (spans_.address[row] > last) break;
      each(row, in_common(row, first, last));
    }
  }

 private:
  [[nodiscard]] int64_t in_common(int32_t row, uint64_t first, uint64_t last) const {
    return static_cast<int64_t>(std::min(spans_.last_byte(row), last) -
                                std::max(spans_.address[row], first)) +
           1;
  }

  const SpanHistory& spans_;
  Column<int32_t> order_, place_;  // rows by address, and the inverse
  replay::OrderedSet live_;
};

class Sweep {
 public:
  explicit Sweep(const EventContext& context)
      : history_(context.history),
        segments_(history_.ranges, context.recording.budget),
        blocks_(history_.blocks, context.recording.budget),
        in_use_(context.recording.budget),
        most_(context.recording.budget),
        most_event_(context.recording.budget) {}

  [[nodiscard]] bool run() {
    const auto count = static_cast<size_t>(history_.ranges.count());
    if (!segments_.build() || !blocks_.build() || !in_use_.resize(count, 0) || !most_.resize(count, 0) ||
        !most_event_.resize(count, -1))
      return false;
    Walk blocks(history_.blocks), ranges(history_.ranges);
    for (int32_t event = -1; event < history_.event_count(); ++event) {
      blocks.ended(event, [&](int32_t row) { leave(row); });
      ranges.ended(event, [&](int32_t row) { segments_.erase(row); });
      ranges.begun(event, [&](int32_t row) { appear(row, event); });
      blocks.begun(event, [&](int32_t row) { enter(row, event); });
    }
    return true;
  }

  [[nodiscard]] NeverFull found() const {
    NeverFull found;
    const SpanHistory& ranges = history_.ranges;
    found.all_segments = ranges.count();
    const auto comes_first = [](const NeverFullSegment& a, const NeverFullSegment& b) {
      return std::tuple(-a.never_used(), a.segment, a.range) <
             std::tuple(-b.never_used(), b.segment, b.range);
    };
    std::vector<NeverFullSegment>& worst = found.worst;
    for (int32_t row = 0; row < ranges.count(); ++row) {
      found.has_pieces = found.has_pieces || history_.expandable[row] != 0;
      if (most_[row] >= ranges.size[row]) continue;
      ++found.segments;
      add_saturated(found.never_used, ranges.size[row] - most_[row]);
      // A heap of the worst, the least of them on top.
      worst.push_back({ranges.address[row], row, ranges.size[row], most_[row],
                       most_[row] > 0 ? most_event_[row] : ranges.begin[row], ranges.begin[row],
                       ranges.end[row], history_.expandable[row] != 0});
      std::push_heap(worst.begin(), worst.end(), comes_first);
      if (worst.size() > kMostNeverFull) {
        std::pop_heap(worst.begin(), worst.end(), comes_first);
        worst.pop_back();
      }
    }
    std::sort_heap(worst.begin(), worst.end(), comes_first);
    return found;
  }

 private:
  // Walks through the rows of a history in the order of their begins, and of their ends.
  class Walk {
   public:
    explicit Walk(const SpanHistory& spans) : spans_(spans) {}
    template <typename Each>
    void begun(int32_t event, Each&& each) {
      for (; begun_ < spans_.count() && spans_.begin[begun_] <= event; ++begun_) {
        if (exists(begun_)) each(begun_);
      }
    }
    template <typename Each>
    void ended(int32_t event, Each&& each) {
      for (; ended_ < spans_.count() && spans_.end[spans_.by_end(ended_)] <= event; ++ended_) {
        if (exists(spans_.by_end(ended_))) each(spans_.by_end(ended_));
      }
    }

   private:
    [[nodiscard]] bool exists(int32_t row) const { return spans_.end[row] > spans_.begin[row]; }

    const SpanHistory& spans_;
    int32_t begun_ = 0, ended_ = 0;
  };

  void count(int32_t segment, int64_t bytes, int32_t event) {
    add_saturated(in_use_[segment], bytes);
    if (in_use_[segment] <= most_[segment]) return;
    most_[segment] = in_use_[segment];
    most_event_[segment] = event;
  }
  void enter(int32_t block, int32_t event) {
    blocks_.insert(block);
    segments_.overlapping(history_.blocks.address[block], history_.blocks.last_byte(block),
                          [&](int32_t segment, int64_t bytes) { count(segment, bytes, event); });
  }
  void leave(int32_t block) {
    blocks_.erase(block);
    segments_.overlapping(history_.blocks.address[block], history_.blocks.last_byte(block),
                          [&](int32_t segment, int64_t bytes) {
                            in_use_[segment] = saturated_difference(in_use_[segment], bytes);
                          });
  }
  // A contradictory file has blocks where the segment appears later.
  void appear(int32_t segment, int32_t event) {
    segments_.insert(segment);
    blocks_.overlapping(history_.ranges.address[segment], history_.ranges.last_byte(segment),
                        [&](int32_t, int64_t bytes) { count(segment, bytes, event); });
  }

  const replay::StateHistory& history_;
  LiveSpans segments_, blocks_;
  // Per row of StateHistory::ranges.
  Column<int64_t> in_use_, most_;
  Column<int32_t> most_event_;
};

}  // namespace

Result<NeverFull> find_never_full(const EventContext& context) {
  if (!has_history(context.recording, context.history.rows.events)) {
    NeverFull unknown;
    unknown.has_history = false;
    return unknown;
  }
  Sweep sweep(context);
  if (!sweep.run())
    return fail(ErrorCode::limit_exceeded, -1,
                "Not enough memory to follow {} segments through the recording.",
                context.history.ranges.count());
  return sweep.found();
}

}  // namespace gpustrata::analysis
