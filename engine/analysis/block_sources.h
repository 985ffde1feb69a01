// Which rows of the tables tell of a block of the timeline?
//
// A block is known by its alloc event, by the events that freed it, by its entry in the final state, or by
// some of these. Search and details must agree on whose stack is shown, so the choice is made here.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/base/ids.h"
#include "engine/model/recording.h"
#include "engine/replay/lifetimes.h"

namespace memstrata::analysis {

// Row of SegmentTable whose range holds the address, -1 = none. O(segments).
[[nodiscard]] int32_t find_segment(const model::Recording& recording, const model::Snapshot& snapshot,
                                   int32_t device, uint64_t address);

// Row of BlockTable of the active block at exactly that address in the final state, -1 = none.
// O(segments + blocks of the segment).
[[nodiscard]] int32_t find_final_block(const model::Recording& recording, const model::Snapshot& snapshot,
                                       int32_t device, uint64_t address);

// Event in which the program gave the block back (`free_requested`), -1 = none. Looks back from the free,
// over `furthest` events at most: usually it is the one before, at worst as far away as the block's birth.
[[nodiscard]] int32_t find_free_request(const model::Recording& recording, const replay::Lifetimes& lifetimes,
                                        int32_t rank, int32_t furthest = std::numeric_limits<int32_t>::max());

// Whose call the frames of a free belong to depends on the recording's context level, which no file states.
// At level "alloc" they are those of the allocation; it is recognised by frees that repeat the stack of their
// alloc. Looks at a bounded number of blocks.
enum class FreeStacks : uint8_t { unknown, of_the_alloc, of_the_free };
[[nodiscard]] FreeStacks whose_free_stacks(const model::Recording& recording,
                                           const replay::Lifetimes& lifetimes);

enum class StackFrom : uint8_t { nothing, alloc, free, block };

struct BlockStack {
  StackId stack;  // none or an empty list if `from` is nothing
  StackFrom from = StackFrom::nothing;
};

// The first that is not empty of: alloc event, block of the final state, free. `final_block` is a row of
// BlockTable or -1, `free_event` an event index or -1.
[[nodiscard]] BlockStack choose_stack(const model::Recording& recording, const replay::Lifetimes& lifetimes,
                                      int32_t rank, int32_t final_block, int32_t free_event);

}  // namespace memstrata::analysis
