#include "engine/replay/span_history.h"

#include <algorithm>

namespace gpustrata::replay {

namespace {

constexpr int64_t kFewestChanges = 4096;  // between two checkpoints

}  // namespace

SpanHistory::SpanHistory(Budget& budget)
    : address(budget),
      size(budget),
      begin(budget),
      end(budget),
      budget_(&budget),
      by_end_(budget),
      checkpoints_(budget),
      live_(budget),
      scratch_(budget) {}

SpanHistory::Rows SpanHistory::beginning_in(int32_t after, int32_t until) const {
  const auto first_above = [this](int32_t event) {
    return static_cast<int32_t>(std::upper_bound(begin.begin(), begin.end(), event) - begin.begin());
  };
  return {first_above(after), first_above(std::max(after, until))};
}

SpanHistory::Rows SpanHistory::ending_in(int32_t after, int32_t until) const {
  const auto first_above = [this](int32_t event) {
    return static_cast<int32_t>(std::upper_bound(by_end_.begin(), by_end_.end(), event,
                                                 [this](int32_t e, int32_t row) { return e < end[row]; }) -
                                by_end_.begin());
  };
  return {first_above(after), first_above(std::max(after, until))};
}

bool SpanHistory::comes_before(int32_t a, int32_t b) const {
  const uint64_t left = address[a], right = address[b];
  return left != right ? left < right : a < b;
}

bool SpanHistory::index(int32_t event_count) {
  SpanIndexer indexer(*this, event_count);
  while (!indexer.is_done()) {
    if (!indexer.step(INT64_MAX)) return false;
  }
  return true;
}

SpanIndexer::SpanIndexer(SpanHistory& spans, int32_t event_count)
    : spans_(spans), start_(*spans.budget_), now_(*spans.budget_) {
  spans_.event_count_ = event_count;
}

size_t SpanIndexer::pieces() const {
  if (phase_ == Phase::count || phase_ == Phase::place) return spans_.begin.size();
  return phase_ == Phase::sum ? start_.size() : 0;
}

double SpanIndexer::share() const {
  // As measured; where the phases begin, and the end.
  constexpr double kBegin[] = {0, 0.05, 0.2, 0.25, 0.55, 0.6, 1, 1};
  const auto phase = static_cast<size_t>(phase_);
  double done = 0;
  if (phase_ == Phase::checkpoints) {
    done = (event_ + 1.0) / (spans_.event_count_ + 1.0);
  } else if (const size_t all = pieces(); all > 0) {
    done = static_cast<double>(at_) / static_cast<double>(all);
  }
  return kBegin[phase] + (kBegin[phase + 1] - kBegin[phase]) * done;
}

bool SpanIndexer::step(int64_t work) {
  const size_t all = pieces();
  const size_t end = std::min(all, at_ + static_cast<size_t>(std::min(work, int64_t{INT32_MAX})));
  switch (phase_) {
    case Phase::room:
      if (!spans_.by_end_.resize(spans_.begin.size(), 0) ||
          !start_.resize(static_cast<size_t>(spans_.event_count_) + 3, 0)) {
        return false;
      }
      break;
    case Phase::count:  // rows by end: counted, not compared
      for (size_t row = at_; row < end; ++row) ++start_[slot(row) + 1];
      break;
    case Phase::sum:
      for (size_t i = std::max<size_t>(at_, 1); i < end; ++i) start_[i] += start_[i - 1];
      break;
    case Phase::place:
      for (size_t row = at_; row < end; ++row)
        spans_.by_end_[start_[slot(row)]++] = static_cast<int32_t>(row);
      break;
    case Phase::initial:
      if (!take_initial()) return false;
      break;
    case Phase::checkpoints:
      return add_checkpoint();
    case Phase::done:
      return true;
  }
  at_ = end;
  if (at_ < all) return true;
  at_ = 0;
  phase_ = static_cast<Phase>(static_cast<int>(phase_) + 1);
  return true;
}

// The state before the first event ...
bool SpanIndexer::take_initial() {
  const SpanHistory::Rows initial = spans_.beginning_in(-2, -1);
  for (int32_t row = initial.first; row < initial.last; ++row) {
    if (spans_.end[row] > -1 && !now_.push_back(row)) return false;
  }
  std::sort(now_.data(), now_.data() + now_.size(),
            [this](int32_t a, int32_t b) { return spans_.comes_before(a, b); });
  return true;
}

// ... and from there on wherever enough has changed.
bool SpanIndexer::add_checkpoint() {
  if (!spans_.checkpoints_.push_back(
          {event_, static_cast<int64_t>(spans_.live_.size()), static_cast<int64_t>(now_.size())}) ||
      !spans_.live_.append(now_.span())) {
    return false;
  }
  const int64_t wanted = std::max(kFewestChanges, static_cast<int64_t>(now_.size()));
  // The first event with so many changes behind it.
  int32_t low = event_, high = spans_.event_count_ - 1;
  if (spans_.changes_between(event_, high) < wanted) {
    spans_.live_.shrink_to_fit();
    phase_ = Phase::done;
    return true;
  }
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    (spans_.changes_between(event_, middle) >= wanted ? high : low) = middle;
  }
  if (!spans_.move(now_, event_, high)) return false;
  event_ = high;
  return true;
}

int64_t SpanHistory::changes_between(int32_t from, int32_t to) const {
  const int32_t low = std::min(from, to), high = std::max(from, to);
  const Rows born = beginning_in(low, high), ended = ending_in(low, high);
  return int64_t{born.last} - born.first + ended.last - ended.first;
}

bool SpanHistory::move(Column<int32_t>& rows, int32_t from, int32_t to) const {
  if (from == to) return true;
  // What appears, in address order ...
  scratch_.clear();
  if (from < to) {
    const Rows born = beginning_in(from, to);
    for (int32_t row = born.first; row < born.last; ++row) {
      if (end[row] > to && !scratch_.push_back(row)) return false;
    }
  } else {
    const Rows ended = ending_in(to, from);
    for (int32_t i = ended.first; i < ended.last; ++i) {
      const int32_t row = by_end(i);
      if (begin[row] <= to && !scratch_.push_back(row)) return false;
    }
  }
  std::sort(scratch_.data(), scratch_.data() + scratch_.size(),
            [this](int32_t a, int32_t b) { return comes_before(a, b); });
  // ... goes among what stays, from the back, so that no second list is needed.
  const auto stays = std::remove_if(rows.data(), rows.data() + rows.size(),
                                    [&](int32_t row) { return !exists_after(row, to); });
  const auto kept = static_cast<size_t>(stays - rows.data());
  rows.truncate(kept);
  if (!rows.resize(kept + scratch_.size(), 0)) return false;
  size_t old_one = kept, new_one = scratch_.size(), place = rows.size();
  while (new_one > 0) {
    const bool take_old = old_one > 0 && comes_before(scratch_[new_one - 1], rows[old_one - 1]);
    rows[--place] = take_old ? rows[--old_one] : scratch_[--new_one];
  }
  return true;
}

bool SpanHistory::live_after(int32_t event, Column<int32_t>& rows) const {
  event = std::clamp(event, -1, event_count_ - 1);
  const auto* next = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), event,
                                      [](int32_t e, const Checkpoint& c) { return e < c.event; });
  const Checkpoint* from = next - 1;  // the first one is before every event
  if (next != checkpoints_.end() &&
      changes_between(event, next->event) < changes_between(from->event, event)) {
    from = next;
  }
  rows.clear();
  return rows.append(
             live_.span().subspan(static_cast<size_t>(from->first_row), static_cast<size_t>(from->rows))) &&
         move(rows, from->event, event);
}

}  // namespace gpustrata::replay
