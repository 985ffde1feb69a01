#include "engine/analysis/details/block_details.h"

#include <algorithm>

#include "engine/analysis/device/event_context.h"
#include "engine/analysis/device/holder_stack.h"
#include "engine/trace/action.h"

namespace gpustrata::analysis {

using model::Owner;
using model::RowRange;

namespace {

// Fills in the details, part by part.
class Telling {
 public:
  Telling(const model::Recording& recording, const replay::BlockLives& lifetimes, const DeviceIndex& index,
          int32_t rank)
      : recording_(recording), lifetimes_(lifetimes), index_(index) {
    const auto r = static_cast<size_t>(rank);
    told_.rank = rank;
    told_.address = lifetimes.address(recording, rank);
    told_.version = lifetimes.version[r];
    told_.requested_size = lifetimes.size[r];
    told_.born_event = lifetimes.born[r];
    if (lifetimes.freed[r] < lifetimes.events.count) told_.freed_event = lifetimes.freed[r];
    final_block_ = source_of(recording, lifetimes, index.final_blocks, rank).final_block;
    const FreeOf free = find_free(recording, lifetimes, rank, final_block_);
    told_.free_requested_event = free.request;
    free_event_ = free.event;
    told_.known_by = traced()                ? BlockDetails::KnownBy::alloc
                     : told_.freed_event < 0 ? BlockDetails::KnownBy::final_state
                                             : BlockDetails::KnownBy::free;
    if (final_block_ >= 0) {
      told_.block_size = recording.blocks.size[final_block_];
      told_.state = recording.blocks.state[final_block_];
    }
  }

  [[nodiscard]] BlockDetails all() {
    find_place();
    find_life();
    told_.texts = block_texts(recording_, lifetimes_, told_.rank, final_block_, free_event_);
    told_.annotations = annotations_of(recording_, lifetimes_.events, index_, told_.address, told_.born_event,
                                       told_.freed_event < 0 ? lifetimes_.events.count : told_.freed_event,
                                       [](int32_t) { return true; });
    find_extras();
    find_stack();
    return std::move(told_);
  }

 private:
  [[nodiscard]] bool traced() const { return told_.born_event >= 0; }
  [[nodiscard]] int32_t row(int32_t event) const { return lifetimes_.events.first + event; }
  [[nodiscard]] std::optional<int64_t> time(int32_t event) const {
    if (event < 0) return std::nullopt;
    return lifetimes_.clock.microseconds(recording_.events.time[row(event)]);
  }

  void find_place() {
    const int32_t event = traced() ? told_.born_event : free_event_;
    if (event >= 0) {
      told_.stream = recording_.events.stream[row(event)];
      told_.pool = recording_.events.pool[row(event)];
      if (!told_.pool.is_none()) told_.pool_from = BlockDetails::PoolFrom::event;
    }
    if (const int32_t found = index_.segment_around(told_.address); found >= 0) {
      const auto segment = static_cast<size_t>(found);
      if (event < 0) told_.stream = recording_.segments.stream[segment];
      if (told_.pool.is_none()) {
        told_.pool = recording_.segments.pool[segment];
        if (!told_.pool.is_none()) told_.pool_from = BlockDetails::PoolFrom::segment;
      }
    }
    told_.stream_number = index_.streams[told_.stream];
  }

  void find_life() {
    told_.born_time_us = time(told_.born_event);
    told_.freed_time_us = time(told_.freed_event);
    const int32_t until = told_.freed_event < 0 ? lifetimes_.events.count : told_.freed_event;
    told_.lifetime_events = until - std::max(told_.born_event, 0);
    int64_t lifetime_us = 0;
    if (told_.born_time_us && told_.freed_time_us &&
        !__builtin_sub_overflow(*told_.freed_time_us, *told_.born_time_us, &lifetime_us)) {
      told_.lifetime_us = lifetime_us;
    }
    if (traced()) told_.total_after = lifetimes_.level_after(told_.born_event);
  }

  // The stack of the forward pass is kept among them.
  void add_extras(Owner owner, int32_t owner_row, Extra::Of of) {
    const RowRange range = recording_.extras_of(owner, owner_row);
    for (int32_t i = range.first; i < range.end(); ++i) {
      const StringId key = recording_.extras.key[i], value = recording_.extras.value[i];
      if (recording_.strings.view(key) == kForwardFrames) {
        if (told_.forward_frames.is_none()) told_.forward_frames = value;
      } else if (told_.extras.size() < kMostInList) {
        told_.extras.push_back({of, key, value});
      } else {
        ++told_.extras_left_out;
      }
    }
  }
  void find_extras() {
    if (traced()) add_extras(Owner::event, row(told_.born_event), Extra::Of::itself);
    if (final_block_ >= 0)
      add_extras(Owner::block, final_block_, traced() ? Extra::Of::final_block : Extra::Of::itself);
    if (!traced() && free_event_ >= 0) add_extras(Owner::event, row(free_event_), Extra::Of::free);
  }

  void find_stack() {
    const BlockStack chosen = choose_stack(recording_, lifetimes_, told_.rank, final_block_, free_event_);
    told_.stack_from = chosen.from;
    if (chosen.from == StackFrom::free && told_.free_requested_event >= 0 &&
        index_.free_stacks == FreeStacks::of_the_alloc) {
      told_.stack_from = StackFrom::alloc;
    }
    if (chosen.from == StackFrom::nothing) {
      find_reasons();
      return;
    }
    told_.stack = chosen.stack;
    if (told_.stack_from != StackFrom::free) told_.who = who_of(recording_, chosen.stack);
  }

  void find_reasons() {
    std::vector<NoStackReason>& reasons = told_.no_stack_reasons;
    const model::EventTable& events = recording_.events;
    const auto stack_at = [&](int32_t event) { return events.stack[row(event)]; };
    if (traced()) {
      if (!stack_at(told_.born_event).is_none()) {
        reasons.push_back(NoStackReason::empty_stack);
      } else if (index_.stacks.any_frames) {
        reasons.push_back(NoStackReason::other_allocs_have_one);
      }
    } else if (!has_history(recording_, lifetimes_.events)) {
      reasons.push_back(NoStackReason::no_history);
    } else {
      reasons.push_back(NoStackReason::before_first_event);
      if (final_block_ >= 0) {
        reasons.push_back(recording_.blocks.stack[final_block_].is_none() ? NoStackReason::final_state_without
                                                                          : NoStackReason::final_state_empty);
      } else if (!lifetimes_.profiled) {
        reasons.push_back(free_event_ < 0 || stack_at(free_event_).is_none() ? NoStackReason::free_without
                                                                             : NoStackReason::free_empty);
      }
    }
    if (lifetimes_.events.count > 0 && !index_.stacks.any_frames) {
      reasons.push_back(index_.stacks.any ? NoStackReason::no_frames_anywhere
                                          : NoStackReason::no_stacks_anywhere);
    }
  }

  const model::Recording& recording_;
  const replay::BlockLives& lifetimes_;
  const DeviceIndex& index_;
  int32_t final_block_ = -1;
  int32_t free_event_ = -1;  // that tells of the free: the request, else the completion
  BlockDetails told_;
};

}  // namespace

BlockDetails block_details(const model::Recording& recording, const replay::BlockLives& lifetimes,
                           const DeviceIndex& index, int32_t rank) {
  return Telling(recording, lifetimes, index, rank).all();
}

StackId shown_stack(const model::Recording& recording, const replay::BlockLives& lifetimes,
                    const DeviceIndex& index, int32_t rank) {
  const BlockSource source = source_of(recording, lifetimes, index.final_blocks, rank);
  return source.shown_stack().is_none() ? StackId{} : holder_stack(source, index.free_stacks);
}

}  // namespace gpustrata::analysis
