#include "engine/replay/block_undo.h"

#include <algorithm>
#include <limits>

#include "engine/replay/block_size.h"

namespace gpustrata::replay {

using model::Diag;
using trace::Action;

namespace {

constexpr size_t kMostLookedAt = 64;
constexpr uint64_t kNoEnd = std::numeric_limits<uint64_t>::max();

// Rows of BlockTable that the trace with these events says were there before and to the end, in no segment.
[[nodiscard]] model::RowRange blocks_from_start(const model::Recording& recording, model::RowRange events) {
  for (const model::Part& part : recording.parts) {
    for (const model::DeviceTrace& trace : part.traces) {
      if (trace.events.first == events.first && trace.events.count == events.count) return trace.from_start;
    }
  }
  return {};
}

}  // namespace

BlockUndo::BlockUndo(const model::Recording& recording, StateHistory& history, const RangeUndo& ranges)
    : recording_(recording), history_(history), ranges_(ranges), notes_(history.diagnostics) {}

bool BlockUndo::read_events(int32_t first, int32_t end) {
  const model::EventTable& events = recording_.events;
  for (int32_t event = first; event < end; ++event) {
    const Action action = events.action[row_of(event)];
    requests_ += action == Action::free_requested || action == Action::free;
    completions_ += trace::completes_free(action);
    const bool of_block = action == Action::alloc || action == Action::free_requested ||
                          trace::completes_free(action) || action == Action::annotate;
    if (!(of_block ? addresses_.add_event(address_of(event)) : addresses_.add_event())) return false;
  }
  return true;
}

bool BlockUndo::sort_addresses() {
  const model::SegmentTable& segments = recording_.segments;
  const model::BlockTable& blocks = recording_.blocks;
  const model::RowRange all = history_.rows.segments;
  for (int32_t segment = all.first; segment < all.end(); ++segment) {
    if (segments.device[segment] != history_.rows.device && history_.rows.device != kHostDevice) continue;
    for (int32_t row = segments.blocks[segment].first; row < segments.blocks[segment].end(); ++row) {
      const bool is_active = blocks.state[row] == model::BlockState::active_allocated ||
                             blocks.state[row] == model::BlockState::active_pending_free;
      if (is_active && (!active_.push_back(row) || !addresses_.add(blocks.address[row]))) return false;
    }
  }
  const model::RowRange from_start = blocks_from_start(recording_, history_.rows.events);
  for (int32_t row = from_start.first; row < from_start.end(); ++row) {
    if (!active_.push_back(row) || !addresses_.add(blocks.address[row])) return false;
  }
  if (!addresses_.sort()) return false;
  const size_t places = addresses_.size();
  return is_open_.build(std::max(places, size_t{1})) && row_at_.resize(places, -1) &&
         later_.resize(places, history_.event_count()) && frees_.resize(places, 0);
}

void BlockUndo::count_frees(int32_t first, int32_t end) {
  for (int32_t event = first; event < end; ++event) {
    if (trace::completes_free(recording_.events.action[row_of(event)])) ++frees_[place_of(event)];
  }
}

bool BlockUndo::open_final_blocks() {
  const model::BlockTable& blocks = recording_.blocks;
  const int32_t count = history_.event_count();
  std::sort(active_.data(), active_.data() + active_.size(), [&blocks](int32_t a, int32_t b) {
    const uint64_t left = blocks.address[a];
    const uint64_t right = blocks.address[b];
    return left != right ? left < right : a < b;
  });
  const model::RowRange from_start = blocks_from_start(recording_, history_.rows.events);
  uint64_t free_from = 0;
  for (const int32_t row : active_) {
    const bool known = blocks.requested_size[row] != model::kUnknownSize;
    const Bytes bytes = bytes_of(blocks.address[row], blocks.size[row]);
    if (bytes.start == bytes.end) continue;
    const auto size = static_cast<int64_t>(bytes.end - bytes.start);
    const int64_t requested = known ? blocks.requested_size[row] : size;
    if (bytes.start < free_from) {
      notes_.add(Diag::state_blocks_overlap, count, count, bytes.start);
      continue;
    }
    free_from = bytes.end;
    const bool pending = blocks.state[row] == model::BlockState::active_pending_free;
    const size_t place = addresses_.place_of(bytes.start);
    const Row opened{bytes.start, size,         requested, 0, -1, count, pending ? kUnset : count,
                     row,         frees_[place]};
    const bool in_segment = row < from_start.first || row >= from_start.end();
    if (known && in_segment) check_size(opened);
    if (!open(place, opened, count)) return false;
  }
  return true;
}

uint64_t BlockUndo::certain_end(const Row& row) {
  const int64_t size = row.size != model::kUnknownSize ? row.size : std::max(row.requested_size, int64_t{1});
  return bytes_of(row.address, size).end;
}

bool BlockUndo::open(size_t place, Row row, int32_t event) {
  const int32_t count = history_.event_count();
  if (is_open_.contains(place)) {
    notes_.add(Diag::state_free_of_live_block, event, count, row.address);
    close(place, event + 1);
  }
  const int64_t below = is_open_.before(place);
  if (below >= 0) {
    Row& previous = rows_[row_at_[below]];
    if (certain_end(previous) > row.address) {
      notes_.add(Diag::state_blocks_overlap, event, count, row.address);
      close(static_cast<size_t>(below), event + 1);
    } else {
      previous.room = std::min(previous.room, row.address - previous.address);
    }
  }
  const uint64_t end = certain_end(row);
  int64_t above = is_open_.at_or_after(place + 1);
  while (above >= 0 && addresses_[static_cast<size_t>(above)] < end) {
    notes_.add(Diag::state_blocks_overlap, event, count, row.address);
    close(static_cast<size_t>(above), event + 1);
    above = is_open_.at_or_after(static_cast<size_t>(above) + 1);
  }
  row.room = above < 0 ? kNoEnd : addresses_[static_cast<size_t>(above)] - row.address;
  const RangeUndo::Row* around = ranges_.containing(row.address);
  if (around == nullptr || (!around->expandable && end > around->end)) {
    if (ranges_.any()) notes_.add(Diag::state_block_outside_segments, event, count, row.address);
  } else if (!around->expandable) {
    row.room = std::min(row.room, around->end - row.address);
  }
  row_at_[place] = static_cast<int32_t>(rows_.size());
  is_open_.insert(place);
  return rows_.push_back(row);
}

void BlockUndo::close(size_t place, int32_t begin) {
  settle(rows_[row_at_[place]], begin);
  is_open_.erase(place);
  later_[place] = begin;
}

void BlockUndo::settle(Row& row, int32_t begin) {
  const int32_t count = history_.event_count();
  // What the dump has is there after the last event, whatever that event says.
  row.begin = row.end == count ? std::min(begin, count - 1) : begin;
  if (row.pending_from == kUnset) {
    // Pending in the dump although nothing says since when: at least after the last event. Of a block older than
    // the trace the request is older, too, if requests are written at all; those come last.
    const int32_t latest = row.end == count ? count - 1 : row.end;
    row.pending_from = begin < 0 && !writes_no_requests_ ? -1 : latest;
  }
  row.size = final_size(row);
}

int64_t BlockUndo::final_size(const Row& row) const {
  if (row.size != model::kUnknownSize) return row.size;
  const RangeUndo::Row* around = ranges_.containing(row.address);
  const auto room =
      static_cast<int64_t>(std::min(row.room, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
  return block_size(history_, row.requested_size, room, around != nullptr && !around->expandable);
}

// Does the rule of the allocator explain a block of the dump?
void BlockUndo::check_size(const Row& row) {
  const int64_t least = least_block_size(history_, row.requested_size);
  const RangeUndo::Row* around = ranges_.containing(row.address);
  const bool may_be_larger =
      around != nullptr && !around->expandable && !alloc::Config::is_small(least) &&
      (row.size - least <= alloc::kSmallSize || least >= history_.config.max_split_size);
  if (row.size == least || (row.size > least && may_be_larger)) return;
  notes_.add(Diag::state_size_unexplained, history_.event_count(), history_.event_count(), row.address);
}

bool BlockUndo::undo_alloc(int32_t event) {
  const size_t place = place_of(event);
  Row* row = open_at(place);
  if (row == nullptr) return note_unended(event, place);
  if (row->requested_size != size_of(event)) {
    notes_.add(Diag::state_size_differs, event, history_.event_count(), row->address);
    if (row->size == model::kUnknownSize) row->requested_size = size_of(event);
  }
  if (row->pending_from == kUnset) {
    if (requests_ > 0) {
      notes_.add(Diag::state_request_missing, event, history_.event_count(), row->address);
    } else if (row->end < history_.event_count()) {
      writes_no_requests_ = true;
    }
  }
  if (row->room < static_cast<uint64_t>(least_block_size(history_, row->requested_size)) &&
      row->size == model::kUnknownSize)
    notes_.add(Diag::state_size_unexplained, event, history_.event_count(), row->address);
  history_.row_of_event[event] = row_at_[place];
  close(place, event);
  return true;
}

// An alloc whose block is not there afterwards: nothing says when it was freed.
bool BlockUndo::note_unended(int32_t event, size_t place) {
  const int32_t count = history_.event_count();
  const uint64_t address = address_of(event);
  notes_.add(Diag::state_alloc_not_live, event, count, address);
  const int64_t size = least_block_size(history_, size_of(event));
  const uint64_t end = bytes_of(address, size).end;
  int32_t last = count - 1;
  const int64_t below = is_open_.before(place);
  if (below >= 0 && certain_end(rows_[row_at_[below]]) > address)
    last = event;  // these bytes are somebody else's
  size_t at = place;
  for (size_t i = 0; i < kMostLookedAt && at < addresses_.size() && addresses_[at] < end; ++i, ++at)
    last = is_open_.contains(at) ? event : std::min(last, later_[at]);
  later_[place] = event;
  history_.row_of_event[event] = static_cast<int32_t>(rows_.size());
  return rows_.push_back(
      {address, size, size_of(event), kNoEnd, event, last, std::max(last, event), -1, frees_[place]});
}

bool BlockUndo::undo_free_completed(int32_t event) {
  const size_t place = place_of(event);
  const bool also_request = recording_.events.action[row_of(event)] == Action::free;
  const uint32_t version = --frees_[place];
  history_.row_of_event[event] = static_cast<int32_t>(rows_.size());
  return open(place,
              {address_of(event), model::kUnknownSize, size_of(event), 0, -1, event,
               also_request ? event : kUnset, -1, version},
              event);
}

bool BlockUndo::undo_free_requested(int32_t event) {
  const size_t place = place_of(event);
  Row* row = open_at(place);
  if (row != nullptr && row->pending_from == kUnset) {
    row->pending_from = event;
    history_.row_of_event[event] = row_at_[place];
    if (row->requested_size != size_of(event))
      notes_.add(Diag::state_size_differs, event, history_.event_count(), row->address);
    return true;
  }
  if (row != nullptr && completions_ > 0) {  // requested twice, or in use in the dump
    notes_.add(Diag::state_request_without_effect, event, history_.event_count(), row->address);
    history_.row_of_event[event] = row_at_[place];
    return true;
  }
  if (completions_ > 0)
    notes_.add(Diag::state_request_not_completed, event, history_.event_count(), address_of(event));
  history_.row_of_event[event] = static_cast<int32_t>(rows_.size());
  return open(
      place, {address_of(event), model::kUnknownSize, size_of(event), 0, -1, event, event, -1, frees_[place]},
      event);
}

void BlockUndo::undo_annotate(int32_t event) {
  const size_t place = place_of(event);
  if (is_open_.contains(place)) history_.row_of_event[event] = row_at_[place];
}

void BlockUndo::close_within(Bytes bytes, int32_t event) {
  const size_t place = addresses_.first_at(bytes.start);
  for (int64_t at = place < addresses_.size() ? is_open_.at_or_after(place) : -1;
       at >= 0 && addresses_[static_cast<size_t>(at)] < bytes.end;
       at = is_open_.at_or_after(static_cast<size_t>(at) + 1)) {
    notes_.add(Diag::state_segment_in_use, event, history_.event_count(),
               addresses_[static_cast<size_t>(at)]);
    close(static_cast<size_t>(at), event + 1);
  }
}

bool BlockUndo::settle_all() {
  for (int64_t at = addresses_.size() == 0 ? -1 : is_open_.at_or_after(0); at >= 0;
       at = is_open_.at_or_after(static_cast<size_t>(at) + 1)) {
    settle(rows_[row_at_[at]], -1);
  }
  // Blocks were closed almost in falling order of begin: counted, not compared.
  if (!start_.resize(static_cast<size_t>(history_.event_count()) + 3, 0) || !number_.resize(rows_.size(), -1))
    return false;
  size_t kept = 0;
  for (const Row& row : rows_) {
    if (!exists(row)) continue;
    ++kept;
    ++start_[row.begin + 2];
  }
  for (size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
  SpanHistory& out = history_.blocks;
  return out.address.resize(kept, 0) && out.size.resize(kept, 0) && out.begin.resize(kept, 0) &&
         out.end.resize(kept, 0) && history_.requested_size.resize(kept, 0) &&
         history_.pending_from.resize(kept, 0) && history_.block_version.resize(kept, 0) &&
         history_.block_source.resize(kept, -1);
}

void BlockUndo::write_rows(size_t first, size_t end) {
  SpanHistory& out = history_.blocks;
  for (size_t id = first; id < end; ++id) {
    const Row& row = rows_[id];
    if (!exists(row)) continue;
    const auto to = static_cast<size_t>(start_[row.begin + 1]++);
    number_[id] = static_cast<int32_t>(to);
    out.address[to] = row.address;
    out.size[to] = row.size;
    out.begin[to] = row.begin;
    out.end[to] = row.end;
    history_.requested_size[to] = row.requested_size;
    history_.pending_from[to] = row.pending_from;
    history_.block_version[to] = row.version;
    history_.block_source[to] = row.source;
  }
}

void BlockUndo::number_events(int32_t first, int32_t end) {
  for (int32_t event = first; event < end; ++event) {
    int32_t& row = history_.row_of_event[event];
    if (row >= 0 && addresses_.of_event(static_cast<size_t>(event)) >= 0) row = number_[row];
  }
}

}  // namespace gpustrata::replay
