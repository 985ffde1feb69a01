// Three passes over the events: pair allocs with frees by address, then number the blocks, then sum levels.
// Numbering comes second because how many blocks existed from the start is known only at the end.

#include "engine/replay/block_lives.h"

#include <algorithm>
#include <span>

#include "engine/replay/address_table.h"

namespace gpustrata::replay {

namespace {

using model::Diag;
using trace::Action;

constexpr int64_t kMaxBlocks = (int64_t{1} << 30) - 2;  // a pixel has 30 bits for a rank (timeline.h)

// Which block ends at an event, while ranks are not known yet: >= 0 is the n-th alloc of the trace,
// kNoBlock is none, anything lower is the block from the start that was discovered as number -2 - code.
constexpr int64_t kNoBlock = -1;
constexpr int64_t code_of_older(size_t discovered) { return -2 - static_cast<int64_t>(discovered); }

// A block that existed before the first event, in order of discovery.
struct OlderBlock {
  int64_t size;
  int32_t freed;
  uint32_t version;
  int32_t block_row;
};

// A free that was requested some events before it was completed. `block` as coded above.
struct PendingSpan {
  int32_t from;
  int32_t to;
  int64_t block;
};

// A block from the start whose completion the trace has, but not the request.
struct LostRequest {
  int32_t completed;
  int64_t block;  // as coded above
};

struct PendingStep {
  int32_t event;
  int64_t change;
};

// Wide enough for the sum of any number of sizes, whatever a hostile file says.
using Sum = __int128;

int64_t clamp_bytes(Sum bytes) { return static_cast<int64_t>(std::clamp<Sum>(bytes, 0, kMaxLevel)); }

bool is_reserved_growth(Action action) {
  return action == Action::segment_alloc || action == Action::segment_map;
}
bool is_reserved_shrink(Action action) {
  return action == Action::segment_free || action == Action::segment_unmap;
}

class LifeFinder {
 public:
  LifeFinder(const model::Recording& recording, const model::Part& part, int32_t device)
      : recording_(recording), part_(part) {
    found_.device = device;
    found_.profiled = part.capabilities.profiled;
    found_.clock = part.clock;
    found_.events = part.events_of(device);
    const auto first = static_cast<size_t>(found_.events.first);
    const auto count = static_cast<size_t>(found_.events.count);
    action_ = recording.events.action.span().subspan(first, count);
    address_ = recording.events.address.span().subspan(first, count);
  }

  Result<BlockLives> run() {
    if (!pair_events() || !add_blocks_without_segments() || !add_final_blocks() || !number_blocks() ||
        !sum_levels() || !sum_pending() || !sum_reserved()) {
      return fail(
          ErrorCode::limit_exceeded, -1,
          "The timeline of device {} ({} events) does not fit into memory: at least {} bytes in all would be "
          "needed, the limit is {}.",
          found_.device, found_.events.count, std::max(recording_.budget.needed(), recording_.budget.used()),
          recording_.budget.limit());
    }
    report();
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool pair_events() {
    const size_t count = action_.size();
    size_t allocs = 0;
    bool any_request = false;
    bool any_completed = false;
    for (const Action action : action_) {
      allocs += action == Action::alloc;
      any_request |= action == Action::free_requested;
      writes_requests_ |= action == Action::free_requested || action == Action::free;
      any_completed |= trace::completes_free(action);
    }
    requests_only_ = any_request && !any_completed;
    if (static_cast<int64_t>(allocs) > kMaxBlocks || !found_.level.resize(count, kNoBlock) ||
        !found_.size.reserve(allocs) || !found_.born.reserve(allocs) || !found_.freed.reserve(allocs) ||
        !found_.version.reserve(allocs)) {
      return false;
    }
    for (size_t i = 0; i < count; ++i) {
      const auto event = static_cast<int32_t>(i);
      const Action action = action_[i];
      if (action == Action::alloc) {
        if (!open_block(event)) return false;
      } else if (trace::completes_free(action) || (requests_only_ && action == Action::free_requested)) {
        if (!end_block(event)) return false;
      } else if (action == Action::free_requested && !is_completed_next(i)) {
        if (!note_request(event)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool is_completed_next(size_t i) const {
    return i + 1 < action_.size() && trace::completes_free(action_[i + 1]) && address_[i + 1] == address_[i];
  }

  [[nodiscard]] bool open_block(int32_t event) {
    const auto i = static_cast<size_t>(event);
    AddressTable::Entry* entry = addresses_.find_or_add(address_[i]);
    if (entry == nullptr) return false;
    if (entry->open != AddressTable::kNotOpen) {
      ++live_address_allocs_;
      found_.freed[entry->open] = event;
      found_.level[i] = entry->open;
      settle_request(event, entry->open);
    } else {
      settle_request(event, kNoBlock);
    }
    entry->open = static_cast<int32_t>(found_.size.size());
    if (AddressTable::Entry* last = requests_only_ ? waiting_.find(address_[i]) : nullptr; last != nullptr)
      last->open = AddressTable::kNotOpen;
    return found_.size.push_back(bytes_at(i)) && found_.born.push_back(event) &&
           found_.freed.push_back(found_.events.count) && found_.version.push_back(entry->frees);
  }

  [[nodiscard]] bool end_block(int32_t event) {
    const auto i = static_cast<size_t>(event);
    AddressTable::Entry* entry = addresses_.find_or_add(address_[i]);
    if (entry == nullptr) return false;
    const bool is_older = entry->open == AddressTable::kNotOpen;
    found_.level[i] = is_older ? code_of_older(older_.size()) : entry->open;
    const bool was_asked = settle_request(event, found_.level[i]) || action_[i] != Action::free_completed ||
                           (i > 0 && action_[i - 1] == Action::free_requested && is_completed_next(i - 1));
    if (is_older) {
      ++frees_without_alloc_;
      // Of several at an address only the first is older than the trace.
      if (!was_asked && entry->frees == 0 && !lost_.push_back({event, found_.level[i]})) return false;
      if (!older_.push_back({bytes_at(i), event, entry->frees, -1})) return false;
    } else {
      found_.freed[entry->open] = event;
      frees_unasked_ |= !was_asked;
    }
    entry->open = AddressTable::kNotOpen;
    ++entry->frees;
    if (!requests_only_) return true;
    AddressTable::Entry* last = waiting_.find_or_add(address_[i]);
    if (last != nullptr) last->open = is_older ? AddressTable::kNotOpen : event;
    return last != nullptr;
  }

  // Without completions a request is the free, unless the final state shows that its block still waits.
  [[nodiscard]] bool reopen(uint64_t address, AddressTable::Entry& entry) {
    const AddressTable::Entry* last = waiting_.find(address);
    if (last == nullptr || last->open == AddressTable::kNotOpen) return true;
    const int32_t request = last->open;
    int64_t& ended = found_.level[request];
    entry.open = static_cast<int32_t>(ended);
    --entry.frees;
    found_.freed[entry.open] = found_.events.count;
    ended = kNoBlock;
    return spans_.push_back({request, -1, kNoBlock});
  }

  // Whose free was requested may be known only later, when the block turns out to be older than the trace.
  [[nodiscard]] bool note_request(int32_t event) {
    AddressTable::Entry* entry = waiting_.find_or_add(address_[static_cast<size_t>(event)]);
    if (entry == nullptr) return false;
    if (entry->open != AddressTable::kNotOpen) return true;  // requested twice
    entry->open = static_cast<int32_t>(spans_.size());
    return spans_.push_back({event, -1, kNoBlock});
  }

  // True = there was one.
  bool settle_request(int32_t event, int64_t block) {
    if (spans_.empty()) return false;
    AddressTable::Entry* entry = waiting_.find(address_[static_cast<size_t>(event)]);
    if (entry == nullptr || entry->open == AddressTable::kNotOpen) return false;
    PendingSpan& span = spans_[entry->open];
    span.to = event;
    span.block = block;
    entry->open = AddressTable::kNotOpen;
    return true;
  }

  [[nodiscard]] bool is_waiting(uint64_t address) {
    const AddressTable::Entry* entry = spans_.empty() ? nullptr : waiting_.find(address);
    return entry != nullptr && entry->open != AddressTable::kNotOpen;
  }

  [[nodiscard]] bool add_blocks_without_segments() {
    for (const model::DeviceTrace& trace : part_.traces) {
      if (trace.device != found_.device) continue;
      for (int32_t row = trace.from_start.first; row < trace.from_start.end(); ++row) {
        const int64_t bytes = recording_.blocks.size[row];
        if (!older_.push_back({std::max(bytes, int64_t{0}), found_.events.count, 0, row})) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool add_final_blocks() {
    const model::SegmentTable& segments = recording_.segments;
    const model::BlockTable& blocks = recording_.blocks;
    for (int32_t segment = part_.segments.first; segment < part_.segments.end(); ++segment) {
      if (segments.device[segment] != found_.device) continue;
      has_segments_ = true;
      const model::RowRange rows = segments.blocks[segment];
      for (int32_t row = rows.first; row < rows.end(); ++row) {
        const bool allocated = blocks.state[row] == model::BlockState::active_allocated;
        if (!allocated && blocks.state[row] != model::BlockState::active_pending_free) continue;
        AddressTable::Entry* entry = addresses_.find(blocks.address[row]);
        const bool is_ended = entry != nullptr && entry->open == AddressTable::kNotOpen;
        if (requests_only_ && !allocated && is_ended && !reopen(blocks.address[row], *entry)) return false;
        if (entry != nullptr && entry->open != AddressTable::kNotOpen) {
          ++ends_found_;
          if (!allocated && !is_waiting(blocks.address[row]) && !unasked_.push_back(entry->open))
            return false;
          continue;
        }
        if (!allocated) continue;
        const int64_t requested = blocks.requested_size[row];
        const int64_t bytes = requested == model::kUnknownSize ? blocks.size[row] : requested;
        if (!older_.push_back({std::max(bytes, int64_t{0}), found_.events.count,
                               entry == nullptr ? 0 : entry->frees, row})) {
          return false;
        }
      }
    }
    return true;
  }

  // Moves the allocs up and puts the older blocks under them, last discovered first.
  [[nodiscard]] bool number_blocks() {
    const size_t older = older_.size();
    const size_t allocs = found_.size.size();
    if (static_cast<int64_t>(older + allocs) > kMaxBlocks) return false;
    found_.from_start = static_cast<int32_t>(older);
    if (!make_room(found_.size, older) || !make_room(found_.born, older) || !make_room(found_.freed, older) ||
        !make_room(found_.version, older) || !found_.source.resize(older, -1)) {
      return false;
    }
    for (size_t i = 0; i < older; ++i) {
      const OlderBlock& block = older_[i];
      const size_t rank = older - 1 - i;
      const int64_t size = fitting(block.size, found_.initial_level);
      found_.initial_level += size;
      found_.size[rank] = size;
      found_.born[rank] = -1;
      found_.freed[rank] = block.freed;
      found_.version[rank] = block.version;
      found_.source[rank] = block.block_row;
    }
    return true;
  }

  template <typename T>
  [[nodiscard]] static bool make_room(Column<T>& column, size_t rows) {
    if (rows == 0) return true;
    const size_t before = column.size();
    if (!column.resize(before + rows, T{})) return false;
    std::copy_backward(column.data(), column.data() + before, column.data() + before + rows);
    return true;
  }

  [[nodiscard]] int64_t fitting(int64_t size, int64_t level) {
    if (size <= kMaxLevel - level) return size;
    ++overflows_;
    return 0;
  }

  [[nodiscard]] size_t rank_of(int64_t code) const {
    return code >= 0 ? static_cast<size_t>(found_.from_start + code)
                     : static_cast<size_t>(found_.from_start - 1 - (-2 - code));
  }

  [[nodiscard]] bool sum_levels() {
    int64_t level = found_.initial_level;
    found_.peak_level = level;
    auto next = static_cast<size_t>(found_.from_start);
    for (size_t i = 0; i < action_.size(); ++i) {
      const int64_t ended = found_.level[i];
      if (ended != kNoBlock) level -= found_.size[rank_of(ended)];
      if (action_[i] == Action::alloc) {
        found_.size[next] = fitting(found_.size[next], level);
        level += found_.size[next++];
      }
      found_.level[i] = level;
      if (level > found_.peak_level) {
        found_.peak_level = level;
        found_.peak_event = static_cast<int32_t>(i);
      }
    }
    found_.final_level = level;
    return true;
  }

  [[nodiscard]] bool sum_pending() {
    Column<PendingStep> steps(recording_.budget);
    for (PendingSpan& span : spans_.span()) {
      if (span.to < 0) {  // never completed: pending to the end if it is a block of this trace
        const AddressTable::Entry* entry = addresses_.find(address_[static_cast<size_t>(span.from)]);
        if (entry == nullptr || entry->open == AddressTable::kNotOpen) continue;
        span.block = entry->open;
      }
      if (span.block == kNoBlock) continue;
      const int64_t size = found_.size[rank_of(span.block)];
      if (!found_.early_requests.push_back({static_cast<int32_t>(rank_of(span.block)), span.from}) ||
          !steps.push_back({span.from, size})) {
        return false;
      }
      if (span.to >= 0 && !steps.push_back({span.to, -size})) return false;
    }
    // As in the state (state_history.h): blocks whose request is lost wait from the start, unless none are
    // written; of a block that waits in the end only that is known.
    const bool may_write_them = part_.kind == model::PartKind::snapshot;
    if (may_write_them && (writes_requests_ || !frees_unasked_)) {
      for (const LostRequest& lost : lost_) {
        const int64_t size = found_.size[rank_of(lost.block)];
        found_.pending.initial += size;
        if (!found_.early_requests.push_back({static_cast<int32_t>(rank_of(lost.block)), -1}) ||
            !steps.push_back({lost.completed, -size})) {
          return false;
        }
      }
    }
    std::sort(unasked_.data(), unasked_.data() + unasked_.size());  // a hostile file lists blocks twice
    unasked_.truncate(static_cast<size_t>(std::unique(unasked_.data(), unasked_.data() + unasked_.size()) -
                                          unasked_.data()));
    for (const int32_t alloc : unasked_) {
      const auto rank = static_cast<int32_t>(rank_of(alloc));
      if (!found_.early_requests.push_back({rank, found_.events.count}) ||
          !steps.push_back({found_.events.count - 1, found_.size[rank]})) {
        return false;
      }
    }
    std::sort(found_.early_requests.data(), found_.early_requests.data() + found_.early_requests.size(),
              [](const BlockLives::Request& a, const BlockLives::Request& b) { return a.rank < b.rank; });
    std::sort(steps.data(), steps.data() + steps.size(),
              [](const PendingStep& a, const PendingStep& b) { return a.event < b.event; });
    int64_t pending = found_.pending.initial;
    for (const PendingStep& step : steps) {
      pending += step.change;
      if (!set_step(found_.pending, step.event, pending)) return false;
    }
    return true;
  }

  // A profiler tells the sum with each record, but not what was reserved and given back.
  [[nodiscard]] bool take_recorded_totals(int32_t first_record) {
    const Column<int64_t>& totals = recording_.records.total_reserved;
    bool any = false, any_bytes = false;  // that of the host is said to be 0 always, which tells nothing
    for (int32_t event = 0; event < found_.events.count; ++event) {
      const int64_t total = totals[first_record + event];
      if (total < 0) continue;
      const int64_t reserved = clamp_bytes(total);
      const int64_t before =
          found_.reserved.value.empty() ? found_.reserved.initial : found_.reserved.value.back();
      if (!any) {
        found_.reserved.initial = reserved;
      } else if (reserved != before && !set_step(found_.reserved, event, reserved)) {
        return false;
      }
      any = true;
      any_bytes = any_bytes || total > 0;
    }
    found_.has_reserved = any_bytes;
    return true;
  }

  [[nodiscard]] bool sum_reserved() {
    for (const model::DeviceTrace& trace : part_.traces) {
      if (trace.device == found_.device && trace.first_record >= 0) {
        return take_recorded_totals(trace.first_record);
      }
    }
    Sum start = 0;
    for (int32_t segment = part_.segments.first; segment < part_.segments.end(); ++segment) {
      if (recording_.segments.device[segment] == found_.device) {
        start += std::max(recording_.segments.total_size[segment], int64_t{0});
      }
    }
    for (size_t i = 0; i < action_.size(); ++i) start -= reserved_change(i);
    int64_t reserved = clamp_bytes(start);
    found_.reserved.initial = reserved;
    for (size_t i = 0; i < action_.size(); ++i) {
      const int64_t after = clamp_bytes(Sum{reserved} + reserved_change(i));
      if (after != reserved && !set_step(found_.reserved, static_cast<int32_t>(i), after)) return false;
      reserved = after;
    }
    return true;
  }

  [[nodiscard]] int64_t bytes_at(size_t i) const {
    return std::max(recording_.events.size[static_cast<size_t>(found_.events.first) + i], int64_t{0});
  }
  [[nodiscard]] int64_t reserved_change(size_t i) const {
    if (is_reserved_growth(action_[i])) return bytes_at(i);
    return is_reserved_shrink(action_[i]) ? -bytes_at(i) : 0;
  }

  // Several changes at one event are one step.
  [[nodiscard]] static bool set_step(StepSeries& series, int32_t event, int64_t value) {
    if (!series.event.empty() && series.event.back() == event) {
      series.value.back() = value;
      return true;
    }
    return series.event.push_back(event) && series.value.push_back(value);
  }

  void report() {
    model::Diagnostics& diagnostics = found_.diagnostics;
    if (live_address_allocs_ > 0) diagnostics.add_many(Diag::alloc_of_live_address, live_address_allocs_);
    if (frees_without_alloc_ > 0) diagnostics.add_many(Diag::free_without_alloc, frees_without_alloc_);
    // Of a damaged file the frees may be missing.
    if (has_segments_ && !recording_.diagnostics.incomplete()) {
      const auto* first = found_.freed.begin() + found_.from_start;
      const int64_t absent = std::count(first, found_.freed.end(), found_.events.count) - ends_found_;
      if (absent > 0) diagnostics.add_many(Diag::alloc_without_end, absent);
    }
    if (requests_only_) diagnostics.add(Diag::requests_only);
    if (overflows_ > 0) diagnostics.add_many(Diag::level_overflow, overflows_);
  }

  const model::Recording& recording_;
  const model::Part& part_;
  BlockLives found_{recording_.budget};
  std::span<const Action> action_;
  std::span<const uint64_t> address_;
  AddressTable addresses_{recording_.budget};  // open = number of the alloc
  Column<OlderBlock> older_{recording_.budget};
  // open = row of spans_; if requests_only_, the event that ended a block of the trace
  AddressTable waiting_{recording_.budget};
  Column<PendingSpan> spans_{recording_.budget};
  Column<LostRequest> lost_{recording_.budget};
  // allocs whose blocks wait in the final state, nothing says since when
  Column<int32_t> unasked_{recording_.budget};
  bool writes_requests_ = false;
  bool frees_unasked_ = false;  // a block of the trace was freed without a request
  bool requests_only_ = false;
  bool has_segments_ = false;
  int64_t ends_found_ = 0;  // final blocks that allocs of the trace made
  int64_t live_address_allocs_ = 0;
  int64_t frees_without_alloc_ = 0;
  int64_t overflows_ = 0;
};

}  // namespace

BlockLives::BlockLives(Budget& budget)
    : Bands(budget), version(budget), source(budget), early_requests(budget) {}

int32_t BlockLives::requested(const model::Recording& recording, int32_t rank) const {
  const int32_t end = freed[static_cast<size_t>(rank)];
  const auto row_of = [this](int32_t event) { return static_cast<size_t>(events.first + event); };
  const model::EventTable& table = recording.events;
  if (end < events.count) {
    const Action action = table.action[row_of(end)];
    if (action == Action::free || action == Action::free_requested) return end;
  }
  const Request* early =
      std::lower_bound(early_requests.begin(), early_requests.end(), rank,
                       [](const Request& request, int32_t wanted) { return request.rank < wanted; });
  if (early != early_requests.end() && early->rank == rank && early->event < events.count)
    return early->event;
  const int32_t before = end - 1;
  const bool adjacent = end < events.count && before > born[static_cast<size_t>(rank)] &&
                        trace::completes_free(table.action[row_of(end)]) &&
                        table.action[row_of(before)] == Action::free_requested &&
                        table.address[row_of(before)] == table.address[row_of(end)];
  return adjacent ? before : -1;
}

uint64_t BlockLives::address(const model::Recording& recording, int32_t rank) const {
  if (rank < from_start && source[rank] >= 0) return recording.blocks.address[source[rank]];
  const int32_t event =
      rank < from_start ? freed[static_cast<size_t>(rank)] : born[static_cast<size_t>(rank)];
  return recording.events.address[events.first + event];
}

int32_t BlockLives::rank_born_at(int32_t event) const {
  const int32_t* first = born.begin() + from_start;
  const int32_t* found = std::lower_bound(first, born.end(), event);
  if (found == born.end() || *found != event) return -1;
  return static_cast<int32_t>(found - born.begin());
}

Result<BlockLives> find_block_lives(const model::Recording& recording, const model::Part& part,
                                    int32_t device) {
  return LifeFinder(recording, part, device).run();
}

}  // namespace gpustrata::replay
