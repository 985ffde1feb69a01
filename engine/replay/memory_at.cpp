#include "engine/replay/memory_at.h"

#include <algorithm>
#include <limits>

namespace gpustrata::replay {

using model::BlockState;

namespace {

// Sums of a hostile file stop at the largest number.
void add_to(int64_t& sum, int64_t bytes) {
  if (__builtin_add_overflow(sum, bytes, &sum)) sum = std::numeric_limits<int64_t>::max();
}

// Joined pieces of a hostile file may have more bytes than a size can say.
[[nodiscard]] int64_t size_of(uint64_t from, uint64_t until) {
  return static_cast<int64_t>(
      std::min(until - from, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}

// The event that began or ended a range, as a row of EventTable; -1 = the trace has neither.
[[nodiscard]] int32_t event_row_of(const StateHistory& history, int32_t range) {
  const int32_t begin = history.ranges.begin[range], end = history.ranges.end[range];
  const auto tells = [&](int32_t event) {
    return event >= 0 && event < history.event_count() && history.row_of_event[event] == range;
  };
  if (tells(begin)) return history.rows.events.first + begin;
  if (tells(end)) return history.rows.events.first + end;
  // A piece that was cut out of what one event did: that event is its begin or end all the same.
  if (begin >= 0) return history.rows.events.first + begin;
  return end < history.event_count() ? history.rows.events.first + end : -1;
}

}  // namespace

MemoryAt::MemoryAt(const StateHistory& history, Budget& budget)
    : history_(history),
      live_(budget),
      pieces_(budget),
      shown_(budget),
      segments_(budget),
      blocks_(budget),
      outside_(budget) {}

bool MemoryAt::go_to(int32_t event) {
  event = std::clamp(event, -1, history_.event_count() - 1);
  if (event == event_) return true;
  if (!move_rows(history_.blocks, live_, event) || !move_rows(history_.ranges, pieces_, event)) {
    event_ = -2;
    return false;
  }
  event_ = event;
  if (assemble()) return true;
  event_ = -2;
  return false;
}

bool MemoryAt::move_rows(const SpanHistory& spans, Column<int32_t>& rows, int32_t event) const {
  constexpr int64_t kFarAway = 4096;
  if (event_ < -1 || spans.changes_between(event_, event) > kFarAway) return spans.live_after(event, rows);
  return spans.move(rows, event_, event);
}

BlockAt MemoryAt::block_at(int32_t row) const {
  return {history_.blocks.address[row], history_.blocks.size[row], history_.requested_size[row], row,
          history_.is_pending(row, event_) ? BlockState::active_pending_free : BlockState::active_allocated};
}

void MemoryAt::count(const BlockAt& block) {
  ++totals_.live_blocks;
  add_to(totals_.active, block.size);
  add_to(totals_.requested, block.requested_size);
  if (block.state == BlockState::active_allocated) add_to(totals_.allocated, block.size);
}

bool MemoryAt::add_free(uint64_t from, uint64_t until) {
  const auto size = size_of(from, until);
  ++totals_.free_blocks;
  totals_.largest_free = std::max(totals_.largest_free, size);
  return blocks_.push_back({from, size, 0, -1, BlockState::inactive});
}

bool MemoryAt::is_continued(int32_t row, int32_t next) const {
  const auto a = static_cast<size_t>(row), b = static_cast<size_t>(next);
  const bool both_in_dump = history_.range_source[a] >= 0 && history_.range_source[b] >= 0;
  return history_.expandable[a] != 0 && history_.expandable[b] != 0 &&
         history_.ranges.last_byte(row) + 1 == history_.ranges.address[b] &&
         (!both_in_dump || history_.range_source[a] == history_.range_source[b]) &&
         history_.range_stream[a] == history_.range_stream[b];
}

bool MemoryAt::assemble() {
  segments_.clear();
  blocks_.clear();
  outside_.clear();
  totals_ = {};
  // A range without an end in the trace may reach into another one, which a repair did not see: the later
  // counts.
  shown_.clear();
  for (const int32_t piece : pieces_) {
    const bool overlaps =
        !shown_.empty() && history_.ranges.address[piece] <= history_.ranges.last_byte(shown_.back());
    if (!overlaps) {
      if (!shown_.push_back(piece)) return false;
    } else if (piece > shown_.back()) {  // rows are numbered by begin
      shown_.back() = piece;
    }
  }
  size_t next_block = 0;
  for (size_t i = 0; i < shown_.size();) {
    size_t last = i;
    while (last + 1 < shown_.size() && is_continued(shown_[last], shown_[last + 1])) ++last;
    if (!add_segment(shown_[i], history_.ranges.last_byte(shown_[last]) + 1, next_block)) return false;
    i = last + 1;
  }
  for (; next_block < live_.size(); ++next_block) {
    const BlockAt block = block_at(live_[next_block]);
    if (!outside_.push_back(block)) return false;
    count(block);
  }
  return true;
}

bool MemoryAt::add_segment(int32_t first_piece, uint64_t end, size_t& next_block) {
  SegmentAt segment;
  segment.address = history_.ranges.address[first_piece];
  segment.size = size_of(segment.address, end);
  segment.row = first_piece;
  segment.first_block = static_cast<int32_t>(blocks_.size());
  uint64_t free_from = segment.address;
  for (; next_block < live_.size(); ++next_block) {
    const BlockAt block = block_at(live_[next_block]);
    if (block.address >= end) break;
    count(block);
    if (block.address < free_from || static_cast<uint64_t>(block.size) > end - block.address) {
      if (!outside_.push_back(block)) return false;
      continue;
    }
    if (free_from < block.address && !add_free(free_from, block.address)) return false;
    if (!blocks_.push_back(block)) return false;
    free_from = block.address + static_cast<uint64_t>(block.size);
  }
  if (free_from < end && !add_free(free_from, end)) return false;
  segment.block_count = static_cast<int32_t>(blocks_.size()) - segment.first_block;
  add_to(totals_.reserved, segment.size);
  return segments_.push_back(segment);
}

StackId stack_of_range(const model::Recording& recording, const StateHistory& history, int32_t range) {
  if (const int32_t begin = history.ranges.begin[range]; begin >= 0) {
    const StackId stack = recording.events.stack[history.rows.events.first + begin];
    if (!stack.is_none()) return stack;
  }
  if (history.range_source[range] >= 0) return recording.segments.stack[history.range_source[range]];
  const int32_t row = event_row_of(history, range);
  return row < 0 ? StackId() : recording.events.stack[row];
}

}  // namespace gpustrata::replay
