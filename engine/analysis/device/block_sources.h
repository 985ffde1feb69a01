// Which rows of the tables tell of a block of the timeline?
//
// A block is known by its alloc event, by the events that freed it, by its entry in the final state, or by
// some of these. Search and details must agree on whose stack is shown, so the choice is made here. So it is
// for its texts.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

struct AddressAndRow {
  uint64_t address;
  int32_t row;

  auto operator<=>(const AddressAndRow&) const = default;
};
[[nodiscard]] bool collect_final_blocks(const model::Recording& recording, const model::Part& part,
                                        int32_t device, Column<AddressAndRow>& found);
// Row of BlockTable, -1 = none. O(log blocks).
[[nodiscard]] int32_t row_at(const Column<AddressAndRow>& blocks, uint64_t address);

// Events that tell of a block's free, -1 = none.
struct FreeOf {
  int32_t request = -1;  // the program gave the block back (`free_requested`)
  int32_t event = -1;    // the request, else the completion
};
// `final_block` is a row of BlockTable or -1: a block in use at the end was not freed. O(log requests).
[[nodiscard]] FreeOf find_free(const model::Recording& recording, const replay::BlockLives& lifetimes,
                               int32_t rank, int32_t final_block);

// Whose call the frames of a free belong to depends on the recording's context level, which no file states.
// At level "alloc" they are those of the allocation; it is recognised by frees that repeat the stack of their
// alloc. Looks at a bounded number of blocks.
enum class FreeStacks : uint8_t { unknown, of_the_alloc, of_the_free };
[[nodiscard]] FreeStacks whose_free_stacks(const model::Recording& recording,
                                           const replay::BlockLives& lifetimes);

enum class StackFrom : uint8_t { nothing, alloc, free, block };

struct BlockStack {
  StackId stack;  // none or an empty list if `from` is nothing
  StackFrom from = StackFrom::nothing;
};

// The first that is not empty of: alloc event, block of the final state, free. In a profiler's trace the stack of a free
// is of who freed, so that of a block from before the recording is not known. `final_block` is a row of
// BlockTable or -1, `free_event` an event index or -1.
[[nodiscard]] BlockStack choose_stack(const model::Recording& recording, const replay::BlockLives& lifetimes,
                                      int32_t rank, int32_t final_block, int32_t free_event);

// All of that for one block of many. `final_blocks` are those of collect_final_blocks(). O(log blocks).
struct BlockSource {
  int32_t final_block = -1;
  int32_t free_event = -1;  // looked for only where the alloc has no frames
  BlockStack stack;

  // None if it is empty.
  [[nodiscard]] StackId shown_stack() const {
    return stack.from == StackFrom::nothing ? StackId{} : stack.stack;
  }
};
[[nodiscard]] BlockSource source_of(const model::Recording& recording, const replay::BlockLives& lifetimes,
                                    const Column<AddressAndRow>& final_blocks, int32_t rank);

// What programs write about a block, besides annotations and extras. None where there is nothing to say: no
// text, an empty one, or PyTorch's "N/A".
struct BlockTexts {
  StringId context;                      // of the alloc
  StringId metadata;                     // of the alloc, else of the block of the final state
  StringId free_context, free_metadata;  // of the free; only of a block without an alloc
};
[[nodiscard]] BlockTexts block_texts(const model::Recording& recording, const replay::BlockLives& lifetimes,
                                     int32_t rank, int32_t final_block, int32_t free_event);

// None if there is no text, or PyTorch's "N/A".
[[nodiscard]] StringId if_it_says_something(const model::Recording& recording, StringId text);

// The key of `extras` whose value is a stack: shown and searched as one, not as metadata.
inline constexpr std::string_view kForwardFrames = "forward_frames";

}  // namespace gpustrata::analysis
