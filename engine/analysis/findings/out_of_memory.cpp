#include "engine/analysis/findings/out_of_memory.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/findings/ending.h"
#include "engine/analysis/live/top.h"
#include "engine/base/charge.h"
#include "engine/base/saturating.h"
#include "engine/replay/links.h"

namespace gpustrata::analysis {

using replay::SegmentAt;

namespace {

constexpr int64_t kMostDeviceBytes = int64_t{1} << 50;  // no device has more

class Explaining {
 public:
  Explaining(const EventContext& context, const replay::MemoryAt& memory, const Keys* lines,
             ExplainedOutOfMemory& found)
      : context_(context), memory_(memory), lines_(lines), found_(found) {}

  void describe() {
    const model::EventTable& events = context_.recording.events;
    const size_t row = context_.row(found_.event);
    found_.time_us = context_.part.clock.microseconds(events.time[row]);
    found_.requested = std::max<int64_t>(events.size[row], 0);
    if (const auto free = model::device_free(events, row); free && *free <= kMostDeviceBytes)
      found_.device_free = free;
    found_.stream = same_stream(events.stream[row]);
    found_.pool = same_pool(context_.recording, events.pool[row]);
    found_.stack = events.stack[row];
    found_.who = who_of(context_.recording, found_.stack);
    found_.settings = replay::recorded_settings(context_.recording.strings.view(context_.part.settings_json));
  }

  // What records of a profiler say: the levels, and who holds most.
  [[nodiscard]] Status describe_levels() {
    const replay::BlockLives& lives = context_.lifetimes;
    found_.has_state = false;
    found_.allocated = lives.level_after(found_.event);
    if (lives.has_reserved) found_.reserved = std::max<int64_t>(lives.reserved.at(found_.event), 0);
    return add_largest_holder();
  }

  void describe_state() {
    found_.small = alloc::Config::is_small(found_.requested);
    const bool countable = found_.requested <= alloc::kLargestRequest;
    found_.needed = countable ? taken_from_device(std::max<int64_t>(found_.requested, 1)) : found_.requested;
    const replay::TotalsAt& totals = memory_.totals();
    found_.reserved = totals.reserved;
    found_.allocated = totals.allocated;
    found_.pending = saturated_difference(totals.active, totals.allocated);
    found_.cached = free_bytes(memory_);
    found_.largest_free = totals.largest_free;
    found_.free_blocks = totals.free_blocks;
    found_.room = saturated_sum(found_.device_free.value_or(0), saturated_sum(found_.cached, found_.pending));
  }

  void list_places() {
    for (FreePlace place : find_free_places(context_, memory_)) {
      place.own = place.stream == found_.stream && place.pool == found_.pool && place.small == found_.small;
      place.why = why_not(place);
      if (place.own) found_.largest_own = place.largest;
      if (is_private(context_.recording, place.pool) && place.pool != found_.pool)
        add_saturated(empty_in_private_pools_, place.empty_segments);
      if (!place.own && place.small == found_.small) add_saturated(cached_elsewhere_, place.cached);
      largest_elsewhere_ = place.own || place.small != found_.small
                               ? largest_elsewhere_
                               : std::max(largest_elsewhere_, place.largest);
      if (place.blocks > 0) found_.places.push_back(place);
    }
    std::sort(found_.places.begin(), found_.places.end(), [](const FreePlace& a, const FreePlace& b) {
      return std::tuple(!a.own, -a.largest, a.pool, a.stream, a.small) <
             std::tuple(!b.own, -b.largest, b.pool, b.stream, b.small);
    });
    if (found_.places.size() > kMostFreePlaces) found_.places.resize(kMostFreePlaces);
  }

  // Of the state that `memory` is at.
  [[nodiscard]] int64_t largest_own() const {
    int64_t largest = 0;
    for (const SegmentAt& segment : memory_.segments()) {
      if (!is_own(segment)) continue;
      for (const replay::BlockAt& block : memory_.blocks_of(segment)) {
        if (block.row < 0) largest = std::max(largest, block.size);
      }
    }
    return largest;
  }
  // Of a free block of the request's own that is large enough: was none before the flush?
  void note_flush(int64_t largest_own_before) { was_found_too_late_ = largest_own_before < found_.requested; }

  void judge() {
    const int64_t device_free = found_.device_free.value_or(0);
    const bool barred =
        found_.largest_own >= found_.requested && is_barred(found_.largest_own, found_.requested);
    if (found_.requested <= 0 ||
        (found_.reserved.value_or(0) == 0 && memory_.segments().empty() && !found_.device_free)) {
      found_.verdict = Verdict::unknown;
    } else if (found_.device_free &&
               found_.requested > saturated_sum(device_free, found_.reserved.value_or(0))) {
      found_.verdict = Verdict::too_big;
    } else if (found_.device_free && found_.requested > found_.room) {
      found_.verdict = Verdict::full;
    } else if ((found_.device_free && found_.needed <= device_free) || barred ||
               (!found_.device_free && found_.settings.memory_fraction())) {
      found_.verdict = Verdict::limit;
    } else if (found_.largest_own >= found_.requested) {
      found_.verdict = was_found_too_late_ ? Verdict::too_late : Verdict::unknown;
    } else if (fits_when_freed()) {
      found_.verdict = Verdict::too_late;
    } else if (largest_elsewhere_ >= found_.requested ||
               (empty_in_private_pools_ > 0 &&
                saturated_sum(device_free, empty_in_private_pools_) >= found_.needed)) {
      found_.verdict = Verdict::elsewhere;
    } else if (found_.cached == 0 && found_.pending == 0) {
      found_.verdict = found_.device_free ? Verdict::full : Verdict::unknown;
    } else {
      found_.verdict = found_.room >= found_.requested ? Verdict::fragmented : Verdict::unknown;
    }
    if (found_.verdict == Verdict::too_late || found_.verdict == Verdict::elsewhere) find_fitting();
  }

  [[nodiscard]] Status find_remedies() {
    std::vector<Remedy>& remedies = found_.remedies;
    const int64_t device_free = found_.device_free.value_or(0);
    const Verdict verdict = found_.verdict;
    const bool in_pieces = verdict == Verdict::fragmented || verdict == Verdict::elsewhere;
    if (in_pieces && !expands() && joinable() > 0)
      remedies.push_back({RemedyKind::expandable_segments, joinable()});
    if (in_pieces) add_pins(device_free);
    if (verdict == Verdict::elsewhere && cached_elsewhere_ > 0)
      remedies.push_back({RemedyKind::share_streams, cached_elsewhere_});
    // Of the device the settings may allow less than it has left.
    const bool is_limited = found_.settings.memory_fraction().has_value();
    if (!is_limited && (in_pieces || verdict == Verdict::full || verdict == Verdict::too_big)) {
      if (const int64_t served = largest_served(); served > 0 && !is_refused_next(served))
        remedies.push_back({RemedyKind::smaller_request, saturated_difference(found_.requested, served)});
    }
    if (verdict == Verdict::full && found_.requested > found_.room)
      remedies.push_back({RemedyKind::use_less, saturated_difference(found_.requested, found_.room)});
    if (verdict == Verdict::too_late && !found_.fitting->is_pending)
      remedies.push_back({RemedyKind::ask_again, found_.fitting->bytes});
    if (found_.pending > 0) remedies.push_back({RemedyKind::free_pending, found_.pending});
    if (verdict == Verdict::limit) remedies.push_back({RemedyKind::raise_limit, std::nullopt});
    if (verdict == Verdict::full || verdict == Verdict::too_big) {
      if (Status added = add_largest_holder(); !added) return added;
    }
    if (verdict != Verdict::limit) remedies.push_back({RemedyKind::other_processes, std::nullopt});
    rank_remedies(found_);
    return {};
  }

 private:
  // Before anything else is asked for, a request of that size or less fails: there is a limit.
  [[nodiscard]] bool is_refused_next(int64_t bytes) const {
    const model::EventTable& events = context_.recording.events;
    for (int32_t event = found_.event + 1; event < context_.history.event_count(); ++event) {
      const size_t row = context_.row(event);
      if (events.action[row] == trace::Action::oom)
        return events.size[row] <= bytes && alloc::Config::is_small(events.size[row]) == found_.small &&
               same_stream(events.stream[row]) == found_.stream;
      if (events.action[row] == trace::Action::alloc) return false;
    }
    return false;
  }
  [[nodiscard]] bool is_own(const SegmentAt& segment) const {
    const auto row = static_cast<size_t>(segment.row);
    return same_stream(context_.history.range_stream[row]) == found_.stream &&
           same_pool(context_.recording, context_.history.range_pool[row]) == found_.pool &&
           is_small_segment(context_, segment) == found_.small;
  }

  // Neighbours in a segment that no block is allocated in: one free block once all of it is freed.
  struct Gap {
    uint64_t address = 0;
    int64_t size = 0;
    bool is_pending = false;
  };
  // The largest; of `own` segments with what waits to be freed, of others only what is free.
  [[nodiscard]] Gap largest_gap(bool own) const {
    Gap largest;
    for (const SegmentAt& segment : memory_.segments()) {
      if (is_own(segment) != own || is_small_segment(context_, segment) != found_.small) continue;
      Gap gap;
      for (const replay::BlockAt& block : memory_.blocks_of(segment)) {
        const bool is_pending = block.state == model::BlockState::active_pending_free;
        if (block.row >= 0 && !(own && is_pending)) {
          gap = {};
          continue;
        }
        if (gap.size == 0) gap.address = block.address;
        add_saturated(gap.size, block.size);
        gap.is_pending = gap.is_pending || is_pending;
        if (gap.size > largest.size) largest = gap;
      }
    }
    return largest;
  }
  [[nodiscard]] bool fits_when_freed() const {
    const Gap gap = largest_gap(true);
    return gap.is_pending && gap.size >= found_.requested && !is_barred(gap.size, found_.requested);
  }

  // The youngest free in it, O(blocks of the history).
  void find_fitting() {
    const Gap gap = largest_gap(found_.verdict == Verdict::too_late);
    if (gap.size < found_.requested) return;  // several empty segments
    ExplainedOutOfMemory::Fitting fitting{.bytes = gap.size, .is_pending = gap.is_pending};
    const replay::StateHistory& history = context_.history;
    for (int32_t row = 0; row < history.blocks.count(); ++row) {
      if (history.blocks.address[row] - gap.address >= static_cast<uint64_t>(gap.size)) continue;
      const bool is_pending = history.blocks.exists_after(row, found_.event);
      if (!is_pending && history.blocks.end[row] > found_.event) continue;
      const replay::BlockEvents own = replay::events_of_block(context_.recording, history, row);
      fitting.freed_event =
          std::max(fitting.freed_event, is_pending ? own.free_requested : own.free_completed);
    }
    found_.fitting = fitting;
  }

  [[nodiscard]] bool expands() const { return found_.settings.expandable_segments.value_or(false); }

  // Section 6 of the allocator's rules: large blocks are kept for large requests.
  [[nodiscard]] bool is_barred(int64_t block, int64_t requested) const {
    const int64_t most = found_.settings.config.max_split_size;
    if (most == alloc::kUnlimited) return false;
    if (requested < most) return block >= most;
    return block >= saturated_sum(requested, context_.history.config.max_non_split_rounding_size);
  }

  // For a block of so many bytes; of an expandable segment as if nothing of it were there.
  [[nodiscard]] int64_t taken_from_device(int64_t rounded) const {
    const alloc::Config& config = context_.history.config;
    if (!expands()) return config.segment_size(rounded);
    const int64_t page = config.page_size(alloc::Config::is_small(rounded));
    return (rounded + page - 1) / page * page;
  }

  // The most bytes of the large pool, less than the request, that would have been there; 0 = none.
  [[nodiscard]] int64_t largest_served() const {
    const auto is_served = [&](int64_t bytes) {
      const int64_t rounded = context_.history.config.round_size(bytes);
      return taken_from_device(rounded) <= found_.device_free.value_or(0) ||
             (rounded <= found_.largest_own && !is_barred(found_.largest_own, rounded));
    };
    // What serves a request serves smaller ones, but for segments of a fixed size below kMinLargeAlloc.
    const auto largest_from = [&](int64_t served, int64_t refused) -> int64_t {
      if (served >= refused || !is_served(served)) return 0;
      while (refused - served > 1) {
        const int64_t middle = served + (refused - served) / 2;
        (is_served(middle) ? served : refused) = middle;
      }
      return served;
    };
    const int64_t requested = std::min(found_.requested, alloc::kLargestRequest);
    const int64_t large = largest_from(alloc::kMinLargeAlloc, requested);
    return large > 0 ? large
                     : largest_from(alloc::kSmallSize + 1, std::min(requested, alloc::kMinLargeAlloc));
  }

  [[nodiscard]] WhyNot why_not(const FreePlace& place) const {
    if (place.small != found_.small) return WhyNot::small_or_large;
    if (place.largest < found_.requested) return WhyNot::too_small;
    if (place.pool != found_.pool) return WhyNot::private_pool;
    if (place.stream != found_.stream) return WhyNot::other_stream;
    return is_barred(place.largest, found_.requested) ? WhyNot::max_split : WhyNot::nothing;
  }

  // Free bytes of the pools of the request that lie in segments of a fixed size.
  [[nodiscard]] int64_t joinable() const {
    int64_t bytes = 0;
    for (const SegmentAt& segment : memory_.segments()) {
      const auto row = static_cast<size_t>(segment.row);
      if (context_.history.expandable[row] != 0 ||
          same_pool(context_.recording, context_.history.range_pool[row]) != found_.pool)
        continue;
      add_saturated(bytes, sums_of(memory_, segment).free);
    }
    return bytes;
  }

  // Greedy: the segments with most free bytes for what is in them, until what comes back is enough.
  void add_pins(int64_t device_free) {
    const Fragmentation found = find_fragmentation(context_, memory_, kMostFreedSegments);
    Remedy remedy{RemedyKind::free_pins, 0};
    int64_t back = device_free;
    for (const Pin& pin : found.pins) {
      if (back >= found_.needed) break;
      if (!pin.is_mostly_free()) continue;
      add_saturated(back, pin.segment_bytes);
      add_saturated(*remedy.bytes, pin.segment_bytes);
      add_saturated(remedy.pinned_bytes, pin.pinned_bytes);
      remedy.blocks += pin.blocks;
      if (++remedy.segments == 1 && pin.largest_block >= 0)
        remedy.who = who_of(context_.recording, stack_of_block(context_, pin.largest_block).stack);
    }
    remedy.missing = std::max<int64_t>(saturated_difference(found_.needed, back), 0);
    if (remedy.segments > 0) found_.remedies.push_back(remedy);
  }

  [[nodiscard]] Status add_largest_holder() {
    const auto top = find_top(context_.recording, context_.part, context_.lifetimes,
                              When::alive(found_.event), By::line, 2, {}, lines_);
    if (!top) return tl::unexpected(top.error());
    for (const TopGroup& group : top->groups) {
      if (group.who.kind == Who::Kind::nothing) continue;
      Remedy remedy{RemedyKind::largest_holder, group.bytes, group.blocks};
      remedy.who = group.who;
      found_.remedies.push_back(remedy);
      break;
    }
    return {};
  }

  const EventContext& context_;
  const replay::MemoryAt& memory_;
  const Keys* lines_;  // null: not at hand
  ExplainedOutOfMemory& found_;
  int64_t empty_in_private_pools_ = 0;
  int64_t cached_elsewhere_ = 0;
  int64_t largest_elsewhere_ = 0;
  bool was_found_too_late_ = false;
};

// The first event of the flush that a request which failed made last: frees whose requests came before, and memory that went back
// to the device.
[[nodiscard]] int32_t flush_before(const EventContext& context, int32_t oom) {
  const model::EventTable& events = context.recording.events;
  int32_t first = oom;
  for (; first > 0; --first) {
    const size_t row = context.row(first - 1);
    const trace::Action action = events.action[row];
    const bool gave_back = action == trace::Action::segment_free || action == trace::Action::segment_unmap;
    if (gave_back) continue;
    if (action != trace::Action::free_completed) break;
    const bool of_the_program = first > 1 && events.action[row - 1] == trace::Action::free_requested &&
                                events.address[row - 1] == events.address[row];
    if (of_the_program) break;
  }
  return first;
}

}  // namespace

Result<ExplainedOutOfMemory> explain_out_of_memory(const EventContext& context, replay::MemoryAt& memory,
                                                   int32_t event, const Keys* lines) {
  ExplainedOutOfMemory found;
  found.event = event;
  const Ending ending = find_ending(context.recording, context.part);
  // What is missing of a damaged file may be what came after.
  found.ends_recording = ending.device == context.lifetimes.device && ending.event == event && !ending.is_cut;
  Explaining explaining(context, memory, lines, found);
  explaining.describe();
  if (context.part.capabilities.profiled) {
    if (Status done = explaining.describe_levels(); !done) return tl::unexpected(done.error());
    return found;
  }
  if (!memory.go_to(event))
    return fail(ErrorCode::limit_exceeded, -1, "The memory state of event {} does not fit into memory.",
                event);
  explaining.describe_state();
  explaining.list_places();
  if (found.largest_own >= found.requested) {
    const auto go_to = [&](int32_t to) -> Status {
      if (memory.go_to(to)) return {};
      return fail(ErrorCode::limit_exceeded, -1, "The memory state of event {} does not fit into memory.",
                  to);
    };
    if (Status there = go_to(flush_before(context, event) - 1); !there) return tl::unexpected(there.error());
    explaining.note_flush(explaining.largest_own());
    if (Status back = go_to(event); !back) return tl::unexpected(back.error());
  }
  explaining.judge();
  if (Status done = explaining.find_remedies(); !done) return tl::unexpected(done.error());
  return found;
}

int64_t ExplainedOutOfMemory::lacking() const {
  const int64_t more = needed_at_least ? needed_at_least->more : 0;
  return std::max<int64_t>(saturated_difference(saturated_sum(requested, more), room), 0);
}

void rank_remedies(ExplainedOutOfMemory& one) {
  const auto by_effect = [&](const Remedy& remedy) {
    const bool is_trivial = remedy.kind == RemedyKind::smaller_request && *remedy.bytes > one.requested / 2;
    const bool has_effect = remedy.bytes && !is_trivial && remedy.kind != RemedyKind::largest_holder;
    const bool is_enough = has_effect && one.needed_at_least && *remedy.bytes >= one.lacking() &&
                           remedy.kind != RemedyKind::smaller_request;
    // Whatever else is freed, a request that is too big never fits.
    const bool is_all = one.verdict == Verdict::too_big && remedy.kind == RemedyKind::smaller_request;
    return std::tuple(is_all, is_enough, has_effect, remedy.bytes && !is_trivial, remedy.bytes.value_or(-1));
  };
  std::stable_sort(one.remedies.begin(), one.remedies.end(),
                   [&](const Remedy& a, const Remedy& b) { return by_effect(a) > by_effect(b); });
}

Status add_needed_at_least(const EventContext& context, const Steps& steps, OutOfMemoryEvents& events,
                           const Keys* lines) {
  if (events.explained.empty() || !events.explained.back().ends_recording) return {};
  ExplainedOutOfMemory& last = events.explained.back();
  auto needed = find_needed_at_least(context, steps, last.event, lines);
  if (!needed) return tl::unexpected(needed.error());
  last.needed_at_least = *needed;
  const auto before_backward = is_before_backward(context, steps, last.event);
  if (!before_backward) return tl::unexpected(before_backward.error());
  last.before_backward = *before_backward;
  if (!last.needed_at_least || !last.has_state) return {};
  std::erase_if(last.remedies, [](const Remedy& one) { return one.kind == RemedyKind::use_less; });
  if (last.lacking() > 0 && last.verdict != Verdict::too_big)
    last.remedies.push_back({RemedyKind::use_less, last.lacking()});
  rank_remedies(last);
  return {};
}

Result<OutOfMemoryEvents> explain_all_out_of_memory(const EventContext& context, replay::MemoryAt& memory,
                                                    const Keys* lines) {
  OutOfMemoryEvents found;
  std::vector<int32_t> events;  // the last ones, newest first
  for (int32_t event = context.history.event_count() - 1; event >= 0; --event) {
    if (context.recording.events.action[context.row(event)] != trace::Action::oom) continue;
    ++found.all;
    if (events.size() < kMostExplained) events.push_back(event);
  }
  std::reverse(events.begin(), events.end());
  for (const int32_t event : events) {
    auto one = explain_out_of_memory(context, memory, event, lines);
    if (!one) return tl::unexpected(one.error());
    found.explained.push_back(std::move(*one));
  }
  return found;
}

}  // namespace gpustrata::analysis
