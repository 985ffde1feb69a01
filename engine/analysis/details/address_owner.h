// Whose address is it? What holds an address of a device after an event, who had it before and has it later, and what is nearest
// where nobody holds it. For an illegal memory access, which names an address and nothing else.
//
// The address is any byte: of a block, of what rounding added to it, of free memory in a segment, or of none. Nothing is guessed:
// who allocated and who freed are the stacks that were recorded for it; what was before the first event is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/device/event_context.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::analysis {

// "0x7f3c00001200", or the same in decimal; none if it is neither, or has more than 64 bits.
[[nodiscard]] std::optional<uint64_t> address_in(std::string_view text);

// A block that has the address, from its alloc to the completion of its free.
struct AddressLife {
  StateBlock block;      // as state_block(): its state is that after the event
  int64_t offset = 0;    // of the address from the block's start, bytes
  StackId allocated_by;  // none = not recorded
  StackId freed_by;      // who asked for the free; none = not recorded
  [[nodiscard]] bool is_rounding() const { return offset >= block.requested_size; }
};

// What lies nearest on one side. Distance: bytes from the address to the nearest byte of it, so 1 is right beside it.
struct AddressNeighbour {
  bool is_segment = false;
  uint64_t address = 0;
  uint32_t version = 0;
  int64_t size = 0;
  int64_t distance = 0;  // bytes, at most 2^63 - 1
};

// A piece of device memory that has the address at another time; events as in replay::SpanHistory.
struct AddressRange {
  uint64_t address = 0;
  uint32_t version = 0;
  int64_t size = 0;
  int32_t begin = -1;  // event that made it, -1 = before the first
  int32_t end = -1;    // event after which it is gone, -1 = never
  std::optional<trace::Action> end_action = std::nullopt;
  PoolId pool;
};

inline constexpr size_t kMostAddressLives = 5;  // on each side, the nearest

struct AddressOwner {
  uint64_t address = 0;
  int32_t device = 0;
  int32_t event = -1;  // the state after it; -1 = before the first
  int32_t event_count = 0;
  bool has_history = false;  // events besides those that mark a snapshot
  std::optional<int64_t> time_us;

  std::optional<AddressLife> holder;
  std::optional<StateSegment> segment;
  // Free memory of the segment around the address, where no block holds it.
  struct Free {
    uint64_t address = 0;
    int64_t size = 0;
  };
  std::optional<Free> free;
  // Lives that ended before the event, and that begin after it; the nearest in time first.
  std::vector<AddressLife> before, after;
  int64_t before_left_out = 0, after_left_out = 0;
  // Only without a holder. In a segment its blocks; else segments; where none are known, blocks.
  std::optional<AddressNeighbour> below, above;
  // Only without a segment: which had it last, and has it next.
  std::optional<AddressRange> segment_before, segment_after;

  // The device has the address at some moment of the recording.
  [[nodiscard]] bool is_known() const {
    return holder || segment || !before.empty() || !after.empty() || segment_before || segment_after;
  }
  // To what is nearest; 0 = it is held, none = the device has nothing.
  [[nodiscard]] std::optional<int64_t> distance() const;
};

// `memory` is at the event. O(blocks + segments of the history + blocks of the state).
[[nodiscard]] AddressOwner find_owner(const EventContext& context, const replay::MemoryAt& memory,
                                      uint64_t address);

}  // namespace gpustrata::analysis
