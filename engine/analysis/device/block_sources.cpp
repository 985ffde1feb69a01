#include "engine/analysis/device/block_sources.h"

#include <algorithm>

namespace gpustrata::analysis {

using model::BlockState;
using trace::Action;

namespace {

constexpr int32_t kRanksLookedAt = 20000;  // a millisecond at most
constexpr int32_t kPairsEnough = 64;

[[nodiscard]] bool has_frames(const model::Recording& recording, StackId stack) {
  return !stack.is_none() && recording.stacks.leaf(stack) >= 0;
}

}  // namespace

StringId if_it_says_something(const model::Recording& recording, StringId id) {
  const std::string_view text = recording.strings.view(id);
  return text.empty() || text == "N/A" ? StringId{} : id;
}

bool collect_final_blocks(const model::Recording& recording, const model::Part& part, int32_t device,
                          Column<AddressAndRow>& found) {
  for (int32_t segment = part.segments.first; segment < part.segments.end(); ++segment) {
    if (recording.segments.device[segment] != device) continue;
    const model::RowRange rows = recording.segments.blocks[segment];
    for (int32_t row = rows.first; row < rows.end(); ++row) {
      const model::BlockState state = recording.blocks.state[row];
      if (state != model::BlockState::active_allocated && state != model::BlockState::active_pending_free)
        continue;
      if (!found.push_back({recording.blocks.address[row], row})) return false;
    }
  }
  std::sort(found.data(), found.data() + found.size());
  return true;
}

int32_t row_at(const Column<AddressAndRow>& blocks, uint64_t address) {
  const auto* found = std::lower_bound(blocks.begin(), blocks.end(), AddressAndRow{address, -1});
  return found != blocks.end() && found->address == address ? found->row : -1;
}

FreeOf find_free(const model::Recording& recording, const replay::BlockLives& lifetimes, int32_t rank,
                 int32_t final_block) {
  if (final_block >= 0 && recording.blocks.state[final_block] == BlockState::active_allocated) {
    return {};
  }
  const int32_t request = lifetimes.requested(recording, rank);
  if (request >= 0) return {request, request};
  const int32_t freed = lifetimes.freed[rank];
  // A later alloc at the same address ended the block: that event tells nothing of the free.
  const bool told = freed < lifetimes.events.count &&
                    recording.events.action[lifetimes.events.first + freed] != Action::alloc;
  return {-1, told ? freed : -1};
}

FreeStacks whose_free_stacks(const model::Recording& recording, const replay::BlockLives& lifetimes) {
  const model::EventTable& events = recording.events;
  const auto row_of = [&](int32_t event) { return static_cast<size_t>(lifetimes.events.first + event); };
  int32_t same = 0;
  const int32_t end =
      std::min(lifetimes.count() - lifetimes.from_start, kRanksLookedAt) + lifetimes.from_start;
  for (int32_t rank = lifetimes.from_start; rank < end && same < kPairsEnough; ++rank) {
    const int32_t born = lifetimes.born[rank];
    const int32_t freed = lifetimes.freed[rank];
    if (freed >= lifetimes.events.count || born < 0) continue;
    int32_t request = freed;
    if (events.action[row_of(freed)] == Action::free_completed) {
      // A deferred free_completed has the stack of an unrelated call: only adjacent pairs tell.
      request = freed - 1;
      if (request <= born || events.action[row_of(request)] != Action::free_requested ||
          events.address[row_of(request)] != events.address[row_of(freed)]) {
        continue;
      }
    } else if (events.action[row_of(freed)] == Action::alloc) {
      continue;  // the free itself is missing
    }
    const StackId at_alloc = events.stack[row_of(born)];
    const StackId at_free = events.stack[row_of(request)];
    if (!has_frames(recording, at_alloc) || !has_frames(recording, at_free)) continue;
    if (at_alloc != at_free) return FreeStacks::of_the_free;
    ++same;
  }
  return same > 0 ? FreeStacks::of_the_alloc : FreeStacks::unknown;
}

BlockStack choose_stack(const model::Recording& recording, const replay::BlockLives& lifetimes, int32_t rank,
                        int32_t final_block, int32_t free_event) {
  const int32_t born = lifetimes.born[rank];
  BlockStack nothing;
  const auto consider = [&](StackId stack) {
    if (has_frames(recording, stack)) return true;
    if (nothing.stack.is_none()) nothing.stack = stack;
    return false;
  };
  const auto event_stack = [&](int32_t event) {
    return recording.events.stack[lifetimes.events.first + event];
  };
  if (born >= 0 && consider(event_stack(born))) return {event_stack(born), StackFrom::alloc};
  if (final_block >= 0) {
    const StackId stack = recording.blocks.stack[final_block];
    if (consider(stack)) return {stack, StackFrom::block};
  }
  if (free_event >= 0 && !lifetimes.profiled && consider(event_stack(free_event)))
    return {event_stack(free_event), StackFrom::free};
  return nothing;
}

BlockSource source_of(const model::Recording& recording, const replay::BlockLives& lifetimes,
                      const Column<AddressAndRow>& final_blocks, int32_t rank) {
  const int32_t born = lifetimes.born[rank];
  BlockSource source;
  if (born < 0) source.final_block = lifetimes.source[rank];
  if (source.final_block < 0 && lifetimes.freed[rank] >= lifetimes.events.count)
    source.final_block = row_at(final_blocks, lifetimes.address(recording, rank));
  const bool has_own_stack =
      born >= 0 && has_frames(recording, recording.events.stack[lifetimes.events.first + born]);
  if (!has_own_stack) source.free_event = find_free(recording, lifetimes, rank, source.final_block).event;
  source.stack = choose_stack(recording, lifetimes, rank, source.final_block, source.free_event);
  return source;
}

BlockTexts block_texts(const model::Recording& recording, const replay::BlockLives& lifetimes, int32_t rank,
                       int32_t final_block, int32_t free_event) {
  const model::EventTable& events = recording.events;
  const auto row_of = [&](int32_t event) { return static_cast<size_t>(lifetimes.events.first + event); };
  const int32_t born = lifetimes.born[rank];
  BlockTexts texts;
  if (born >= 0) {
    texts.context = if_it_says_something(recording, events.context[row_of(born)]);
    texts.metadata = if_it_says_something(recording, events.metadata[row_of(born)]);
  } else if (free_event >= 0) {
    texts.free_context = if_it_says_something(recording, events.context[row_of(free_event)]);
    texts.free_metadata = if_it_says_something(recording, events.metadata[row_of(free_event)]);
  }
  if (texts.metadata.is_none() && final_block >= 0) {
    texts.metadata = if_it_says_something(recording, recording.blocks.metadata[final_block]);
  }
  return texts;
}

}  // namespace gpustrata::analysis
