#include "engine/replay/span_history.h"

#include <algorithm>

namespace memstrata::replay {

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
    return static_cast<int32_t>(
        std::upper_bound(by_end_.begin(), by_end_.end(), event,
                         [this](int32_t e, int32_t row) { return e < end[static_cast<size_t>(row)]; }) -
        by_end_.begin());
  };
  return {first_above(after), first_above(std::max(after, until))};
}

bool SpanHistory::comes_before(int32_t a, int32_t b) const {
  const uint64_t left = address[static_cast<size_t>(a)], right = address[static_cast<size_t>(b)];
  return left != right ? left < right : a < b;
}

bool SpanHistory::index(int32_t event_count) {
  event_count_ = event_count;
  const size_t rows = begin.size();
  // Rows by end: counted, not compared.
  Column<int32_t> start(*budget_);
  const auto slots = static_cast<size_t>(event_count) + 2;
  if (!by_end_.resize(rows, 0) || !start.resize(slots + 1, 0)) return false;
  const auto slot = [this](size_t row) { return static_cast<size_t>(end[row] + 1); };
  for (size_t row = 0; row < rows; ++row) ++start[slot(row) + 1];
  for (size_t i = 1; i <= slots; ++i) start[i] += start[i - 1];
  for (size_t row = 0; row < rows; ++row)
    by_end_[static_cast<size_t>(start[slot(row)]++)] = static_cast<int32_t>(row);

  // The state before the first event, and from there on wherever enough has changed.
  Column<int32_t> now(*budget_);
  const Rows initial = beginning_in(-2, -1);
  for (int32_t row = initial.first; row < initial.last; ++row) {
    if (end[static_cast<size_t>(row)] > -1 && !now.push_back(row)) return false;
  }
  std::sort(now.data(), now.data() + now.size(), [this](int32_t a, int32_t b) { return comes_before(a, b); });
  int32_t at = -1;
  for (;;) {
    if (!checkpoints_.push_back({at, static_cast<int64_t>(live_.size()), static_cast<int64_t>(now.size())}) ||
        !live_.append(now.span())) {
      return false;
    }
    const int64_t wanted = std::max(kFewestChanges, static_cast<int64_t>(now.size()));
    // The first event with so many changes behind it.
    int32_t low = at, high = event_count - 1;
    if (changes_between(at, high) < wanted) break;
    while (high - low > 1) {
      const int32_t middle = low + (high - low) / 2;
      (changes_between(at, middle) >= wanted ? high : low) = middle;
    }
    if (!move(now, at, high)) return false;
    at = high;
  }
  live_.shrink_to_fit();
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
      if (end[static_cast<size_t>(row)] > to && !scratch_.push_back(row)) return false;
    }
  } else {
    const Rows ended = ending_in(to, from);
    for (int32_t i = ended.first; i < ended.last; ++i) {
      const int32_t row = by_end(i);
      if (begin[static_cast<size_t>(row)] <= to && !scratch_.push_back(row)) return false;
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

}  // namespace memstrata::replay
