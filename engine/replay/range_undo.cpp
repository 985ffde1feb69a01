#include "engine/replay/range_undo.h"

namespace gpustrata::replay {

using model::Diag;
using trace::Action;

namespace {

constexpr size_t kMostRangesLookedAt = 64;

[[nodiscard]] bool appears(Action action) {
  return action == Action::segment_alloc || action == Action::segment_map;
}
[[nodiscard]] bool disappears(Action action) {
  return action == Action::segment_free || action == Action::segment_unmap;
}

}  // namespace

RangeUndo::RangeUndo(const model::Recording& recording, StateHistory& history)
    : recording_(recording), history_(history), notes_(history.diagnostics) {}

bool RangeUndo::prepare() {
  const model::EventTable& events = recording_.events;
  const model::SegmentTable& segments = recording_.segments;
  const model::RowRange trace = history_.rows.events;
  const auto add = [this](Bytes bytes) {
    return bytes.start == bytes.end || (borders_.push_back(bytes.start) && borders_.push_back(bytes.end));
  };
  for (int32_t row = trace.first; row < trace.end(); ++row) {
    if ((appears(events.action[row]) || disappears(events.action[row])) &&
        !add(bytes_of(events.address[row], events.size[row]))) {
      return false;
    }
  }
  Column<int32_t> mine(recording_.budget);
  const model::RowRange all = history_.rows.segments;
  for (int32_t row = all.first; row < all.end(); ++row) {
    if (segments.device[row] != history_.rows.device && history_.rows.device != kHostDevice) continue;
    if (!mine.push_back(row) || !add(bytes_of(segments.address[row], segments.total_size[row]))) return false;
  }
  std::sort(borders_.data(), borders_.data() + borders_.size());
  borders_.truncate(
      static_cast<size_t>(std::unique(borders_.data(), borders_.data() + borders_.size()) - borders_.data()));
  const size_t places = borders_.size();
  if (!is_open_.build(std::max(places, size_t{1})) || !row_at_.resize(places, -1) ||
      !later_.resize(places, trace.count) || !versions_.resize(places, 0)) {
    return false;
  }
  for (int32_t row = trace.first; row < trace.end(); ++row) {
    if (!disappears(events.action[row])) continue;
    const Bytes bytes =
        bytes_of(events.address[row], events.size[row]);  // may be empty at the end of all addresses
    if (bytes.start < bytes.end) ++versions_[place_of(bytes.start)];
  }

  std::sort(mine.data(), mine.data() + mine.size(), [&segments](int32_t a, int32_t b) {
    const uint64_t left = segments.address[a];
    const uint64_t right = segments.address[b];
    return left != right ? left < right : a < b;
  });
  uint64_t free_from = 0;
  for (const int32_t row : mine) {
    const Bytes bytes = bytes_of(segments.address[row], segments.total_size[row]);
    if (bytes.start == bytes.end) continue;
    if (bytes.start < free_from) {  // left out: its blocks are shown in the earlier one, or without a segment
      notes_.add(Diag::state_segments_overlap, trace.count, trace.count, bytes.start);
      continue;
    }
    const size_t place = place_of(bytes.start);
    if (open({bytes.start, bytes.end, -1, trace.count, row, versions_[place], segments.stream[row],
              segments.pool[row], segments.expandable[row] == model::Tristate::yes}) < 0) {
      return false;
    }
    free_from = bytes.end;
  }
  return true;
}

size_t RangeUndo::place_of(uint64_t border) const {
  return static_cast<size_t>(std::lower_bound(borders_.begin(), borders_.end(), border) - borders_.begin());
}

int32_t RangeUndo::open(const Row& row) {
  const auto id = static_cast<int32_t>(rows_.size());
  if (!rows_.push_back(row)) return -1;
  const size_t place = place_of(row.start);
  is_open_.insert(place);
  row_at_[place] = id;
  return id;
}

const RangeUndo::Row* RangeUndo::containing(uint64_t address) const {
  const auto next =
      static_cast<size_t>(std::upper_bound(borders_.begin(), borders_.end(), address) - borders_.begin());
  const int64_t place = is_open_.before(next);
  if (place < 0) return nullptr;
  const Row& row = rows_[row_at_[place]];
  return address < row.end ? &row : nullptr;
}

bool RangeUndo::split_at(uint64_t border) {
  const Row* found = containing(border);
  if (found == nullptr || found->start == border) return true;
  const auto lower = static_cast<size_t>(found - rows_.data());
  Row upper = *found;
  upper.start = border;
  if (open(upper) < 0) return false;
  rows_[lower].end = border;
  return true;
}

bool RangeUndo::close_within(Bytes bytes, int32_t begin, uint64_t& covered, int32_t& first) {
  covered = 0;
  first = -1;
  if (!split_at(bytes.start) || !split_at(bytes.end)) return false;
  for (int64_t at = is_open_.at_or_after(place_of(bytes.start)); at >= 0 && borders_[at] < bytes.end;
       at = is_open_.at_or_after(static_cast<size_t>(at) + 1)) {
    const auto place = static_cast<size_t>(at);
    const int32_t id = row_at_[place];
    Row& row = rows_[id];
    // What the dump has is there after the last event, whatever that event says.
    row.begin = row.last == history_.event_count() ? std::min(begin, row.last - 1) : begin;
    later_[place] = begin;
    covered += row.end - row.start;
    if (first < 0) first = id;
    is_open_.erase(place);
  }
  return true;
}

bool RangeUndo::undo_appearance(int32_t event, Bytes bytes, bool expandable) {
  if (bytes.start == bytes.end) return true;
  const int32_t count = history_.event_count();
  uint64_t covered = 0;
  int32_t first = -1;
  if (!expandable) {
    const Row* there = containing(bytes.start);
    if (there != nullptr && (there->start != bytes.start || there->end != bytes.end))
      notes_.add(Diag::state_segment_differs, event, count, bytes.start);
  }
  if (!close_within(bytes, event, covered, first)) return false;
  int32_t& row_of_event = history_.row_of_event[event];
  if (first >= 0) row_of_event = first;
  if (covered == bytes.end - bytes.start) return true;
  notes_.add(Diag::state_segment_not_there, event, count, bytes.start);
  if (covered > 0) return true;
  // It was given back later, but the trace does not say when.
  int32_t last = count - 1;
  size_t place = place_of(bytes.start);
  for (size_t i = 0; i < kMostRangesLookedAt && place < borders_.size() && borders_[place] < bytes.end;
       ++i, ++place)
    last = std::min(last, later_[place]);
  place = place_of(bytes.start);
  row_of_event = static_cast<int32_t>(rows_.size());
  later_[place] = event;
  return rows_.push_back({bytes.start, bytes.end, event, last, -1, versions_[place],
                          recording_.events.stream[row_of(event)], recording_.events.pool[row_of(event)],
                          expandable});
}

bool RangeUndo::undo_disappearance(int32_t event, Bytes bytes, bool expandable) {
  if (bytes.start == bytes.end) return true;
  const int32_t count = history_.event_count();
  uint64_t covered = 0;
  int32_t first = -1;
  if (!close_within(bytes, event + 1, covered, first)) return false;
  if (covered > 0) notes_.add(Diag::state_segments_overlap, event, count, bytes.start);
  const uint32_t version = --versions_[place_of(bytes.start)];
  const int32_t row =
      open({bytes.start, bytes.end, -1, event, -1, version, recording_.events.stream[row_of(event)],
            recording_.events.pool[row_of(event)], expandable});
  history_.row_of_event[event] = row;
  return row >= 0;
}

bool RangeUndo::finish() {
  // In order of begin, and without what never existed after any event.
  Column<int32_t> order(recording_.budget), number(recording_.budget);
  if (!number.resize(rows_.size(), -1)) return false;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].begin < rows_[i].last && !order.push_back(static_cast<int32_t>(i))) return false;
  }
  std::sort(order.data(), order.data() + order.size(), [this](int32_t a, int32_t b) {
    const Row &left = rows_[a], &right = rows_[b];
    if (left.begin != right.begin) return left.begin < right.begin;
    return left.start != right.start ? left.start < right.start : a < b;
  });
  SpanHistory& out = history_.ranges;
  const size_t rows = order.size();
  if (!out.address.reserve(rows) || !out.size.reserve(rows) || !out.begin.reserve(rows) ||
      !out.end.reserve(rows) || !history_.range_version.reserve(rows) ||
      !history_.range_source.reserve(rows) || !history_.range_stream.reserve(rows) ||
      !history_.range_pool.reserve(rows) || !history_.expandable.reserve(rows)) {
    return false;
  }
  for (const int32_t id : order) {
    const Row& row = rows_[id];
    number[static_cast<size_t>(id)] = static_cast<int32_t>(out.begin.size());
    const bool kept =
        out.address.push_back(row.start) && out.size.push_back(static_cast<int64_t>(row.end - row.start)) &&
        out.begin.push_back(row.begin) && out.end.push_back(row.last) &&
        history_.range_version.push_back(row.version) && history_.range_source.push_back(row.source) &&
        history_.range_stream.push_back(row.stream) && history_.range_pool.push_back(row.pool) &&
        history_.expandable.push_back(row.expandable ? 1 : 0);
    if (!kept) return false;
  }
  const model::RowRange trace = history_.rows.events;
  for (int32_t event = 0; event < trace.count; ++event) {
    const Action action = recording_.events.action[trace.first + event];
    int32_t& row = history_.row_of_event[event];
    if ((appears(action) || disappears(action)) && row >= 0) row = number[static_cast<size_t>(row)];
  }
  return out.index(trace.count);
}

bool RangeUndo::write_open(StateHistory& out) const {
  for (int64_t at = borders_.empty() ? -1 : is_open_.at_or_after(0); at >= 0;
       at = is_open_.at_or_after(static_cast<size_t>(at) + 1)) {
    const Row& row = rows_[row_at_[at]];
    const bool kept = out.ranges.address.push_back(row.start) &&
                      out.ranges.size.push_back(static_cast<int64_t>(row.end - row.start)) &&
                      out.ranges.begin.push_back(-1) && out.ranges.end.push_back(0) &&
                      out.range_version.push_back(row.version) && out.range_source.push_back(row.source) &&
                      out.range_stream.push_back(row.stream) && out.range_pool.push_back(row.pool) &&
                      out.expandable.push_back(row.expandable ? 1 : 0);
    if (!kept) return false;
  }
  return out.ranges.index(0);
}

}  // namespace gpustrata::replay
