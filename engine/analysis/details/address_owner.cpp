#include "engine/analysis/details/address_owner.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "engine/analysis/device/event_context.h"
#include "engine/trace/action.h"

namespace gpustrata::analysis {

using replay::BlockAt;
using replay::SegmentAt;
using replay::SpanHistory;

namespace {

[[nodiscard]] bool has(uint64_t from, int64_t size, uint64_t address) {
  return from <= address && address - from < static_cast<uint64_t>(size);
}
[[nodiscard]] bool has(const SpanHistory& spans, int32_t row, uint64_t address) {
  return has(spans.address[row], spans.size[row], address);
}

// Rows that have an address, by when they do.
struct RowsInTime {
  int32_t now = -1;                    // of several in a broken file the youngest
  std::vector<int32_t> before, after;  // the nearest first, at most `most`
  int64_t before_left_out = 0, after_left_out = 0;
};

[[nodiscard]] RowsInTime rows_with(const SpanHistory& spans, uint64_t address, int32_t event, size_t most) {
  RowsInTime found;
  for (int32_t row = 0; row < spans.count(); ++row) {  // in order of begin
    if (!has(spans, row, address)) continue;
    if (spans.exists_after(row, event)) {
      found.now = row;
    } else if (spans.begin[row] > event) {
      if (found.after.size() < most) {
        found.after.push_back(row);
      } else {
        ++found.after_left_out;
      }
    } else {
      const auto later = [&](int32_t a, int32_t b) { return spans.end[a] >= spans.end[b]; };
      const auto place = std::find_if(found.before.begin(), found.before.end(),
                                      [&](int32_t other) { return later(row, other); });
      found.before.insert(place, row);
      if (found.before.size() > most) {
        found.before.pop_back();
        ++found.before_left_out;
      }
    }
  }
  return found;
}

// Whose call a stack of an event is depends on how the recording was begun (FreeStacks); what is not sure is none.
class Stacks {
 public:
  explicit Stacks(const EventContext& context) : context_(context) {}

  [[nodiscard]] StackId allocated_by(const StateBlock& block) const {
    if (block.stack_from == StackFrom::alloc || block.stack_from == StackFrom::block) return block.stack;
    const bool is_of_alloc = context_.index.free_stacks == FreeStacks::of_the_alloc;
    return is_of_alloc && block.events.free_requested >= 0 ? at(block.events.free_requested) : StackId();
  }
  // A completion that came later than its request has the stack of whoever made the allocator look.
  [[nodiscard]] StackId freed_by(const StateBlock& block) const {
    if (context_.lifetimes.profiled && block.events.free_completed >= 0)
      return at(block.events.free_completed);
    if (context_.index.free_stacks != FreeStacks::of_the_free) return {};
    return block.events.free_requested >= 0 ? at(block.events.free_requested) : StackId();
  }

 private:
  [[nodiscard]] StackId at(int32_t event) const {
    const StackId stack = context_.recording.events.stack[context_.row(event)];
    return stack.is_none() || context_.recording.stacks.leaf(stack) < 0 ? StackId() : stack;
  }
  const EventContext& context_;
};

[[nodiscard]] AddressLife life_of(const EventContext& context, const replay::MemoryAt& memory, int32_t row,
                                  uint64_t address) {
  AddressLife life;
  life.block = state_block(context, memory, row);
  life.offset = static_cast<int64_t>(address - life.block.address);
  const Stacks stacks(context);
  life.allocated_by = stacks.allocated_by(life.block);
  life.freed_by = stacks.freed_by(life.block);
  return life;
}

[[nodiscard]] AddressRange range_of(const EventContext& context, int32_t row) {
  const replay::StateHistory& history = context.history;
  AddressRange range{.address = history.ranges.address[row],
                     .version = history.range_version[row],
                     .size = history.ranges.size[row],
                     .begin = history.ranges.begin[row],
                     .pool = history.range_pool[row]};
  if (const int32_t end = history.ranges.end[row]; end < history.event_count()) {
    range.end = end;
    range.end_action = context.recording.events.action[context.row(end)];
  }
  return range;
}

// The nearest on each side of the address, of things in address order that do not have it.
class Nearest {
 public:
  explicit Nearest(uint64_t address) : address_(address) {}

  void consider(const AddressNeighbour& one) {
    AddressNeighbour found = one;
    if (one.address > address_) {
      found.distance = capped(one.address - address_);
      if (!above || found.distance < above->distance) above = found;
    } else if (!has(one.address, one.size, address_)) {
      found.distance = capped(address_ - one.address - static_cast<uint64_t>(one.size) + 1);
      if (!below || found.distance < below->distance) below = found;
    }
  }

  std::optional<AddressNeighbour> below, above;

 private:
  // What is told of it is a signed number of bytes.
  [[nodiscard]] static int64_t capped(uint64_t distance) {
    return static_cast<int64_t>(std::min<uint64_t>(distance, INT64_MAX));
  }

  uint64_t address_;
};

void find_nearest(const EventContext& context, const replay::MemoryAt& memory, const SegmentAt* segment,
                  AddressOwner& told) {
  Nearest nearest(told.address);
  const auto consider_blocks = [&](std::span<const BlockAt> blocks) {
    for (const BlockAt& block : blocks) {
      if (block.row < 0) continue;
      nearest.consider({.address = block.address,
                        .version = context.history.block_version[block.row],
                        .size = block.size});
    }
  };
  if (segment != nullptr) {
    consider_blocks(memory.blocks_of(*segment));
  } else if (!memory.segments().empty()) {
    for (const SegmentAt& one : memory.segments())
      nearest.consider({.is_segment = true,
                        .address = one.address,
                        .version = context.history.range_version[one.row],
                        .size = one.size});
  } else {
    consider_blocks(memory.outside());
  }
  told.below = nearest.below;
  told.above = nearest.above;
}

}  // namespace

std::optional<uint64_t> address_in(std::string_view text) {
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  uint64_t address = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), address, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return address;
}

std::optional<int64_t> AddressOwner::distance() const {
  if (holder || segment) return 0;
  if (!below && !above) return std::nullopt;
  if (!below || !above) return below ? below->distance : above->distance;
  return std::min(below->distance, above->distance);
}

AddressOwner find_owner(const EventContext& context, const replay::MemoryAt& memory, uint64_t address) {
  const replay::StateHistory& history = context.history;
  AddressOwner told;
  told.address = address;
  told.device = history.rows.device;
  told.event = memory.event();
  told.event_count = history.event_count();
  told.has_history = has_history(context.recording, history.rows.events);
  if (told.event >= 0) told.time_us = context.time_us(told.event);

  const RowsInTime blocks = rows_with(history.blocks, address, told.event, kMostAddressLives);
  if (blocks.now >= 0) told.holder = life_of(context, memory, blocks.now, address);
  for (const int32_t row : blocks.before) told.before.push_back(life_of(context, memory, row, address));
  for (const int32_t row : blocks.after) told.after.push_back(life_of(context, memory, row, address));
  told.before_left_out = blocks.before_left_out;
  told.after_left_out = blocks.after_left_out;

  const SegmentAt* segment = segment_around(memory, address);
  const RowsInTime ranges = rows_with(history.ranges, address, told.event, 1);
  if (segment != nullptr) {
    // Of an expandable segment the piece that was mapped with the address; in a broken file another segment may hide it.
    if (ranges.now >= 0) told.segment = state_segment(context, memory, ranges.now);
    if (!told.segment || told.segment->segment.row != segment->row)
      told.segment = state_segment(context, memory, segment->row);
    if (!told.holder) {
      for (const BlockAt& block : memory.blocks_of(*segment)) {
        if (block.row < 0 && has(block.address, block.size, address)) told.free = {block.address, block.size};
      }
    }
  } else {
    if (!ranges.before.empty()) told.segment_before = range_of(context, ranges.before[0]);
    if (!ranges.after.empty()) told.segment_after = range_of(context, ranges.after[0]);
  }
  if (!told.holder) find_nearest(context, memory, segment, told);
  return told;
}

}  // namespace gpustrata::analysis
