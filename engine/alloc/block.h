// Segments and the blocks that tile them: what MemoryState keeps.
//
//   segment   one range of address space obtained from the device, or, if `expandable`, one reservation of
//             which any range of pages may be mapped.
//   block     a piece of a segment. Blocks of a segment are a list in address order without gaps. Neighbours
//             are never both inactive with the same `mapped`: they would be one block.
//   is split  a block that is not alone in its segment.
//
// Sizes are bytes > 0, addresses are unsigned 64-bit.
#pragma once

#include <cstdint>

#include "engine/alloc/treap.h"
#include "engine/base/ids.h"
#include "engine/trace/trace_event.h"

namespace gpustrata::alloc {

using BlockId = Id<struct BlockTag>;
using SegmentId = Id<struct SegmentTag>;

enum class BlockState : uint8_t {
  active_allocated,     // in use
  active_pending_free,  // given back, but another stream may still use it
  inactive,             // cached, or (in an expandable segment) not mapped
};

struct Block {
  uint64_t address = 0;
  int64_t size = 0;
  int64_t requested_size = 0;  // of an inactive block: left over from its last use, as in PyTorch
  SegmentId segment;
  BlockId previous, next;  // neighbours in the segment
  StackId stack;           // of the alloc; none while inactive
  StringId metadata;       // of the alloc; none while inactive
  BlockState state = BlockState::inactive;
  bool mapped = true;                      // false only in expandable segments, only while inactive
  bool small = false, expandable = false;  // as the segment, whose row then is not needed
  // Place in a search tree of the inactive blocks of a pool (DeviceAllocator).
  TreapLinks links;
  uint32_t birth = 0;  // DeviceAllocator: BlockSet::searches when the block came into its set, modulo 2^32
  uint32_t number =
      0;  // decides between equal sizes before the address does; 0 throughout in FreeOrder::address

  [[nodiscard]] bool is_split() const { return !previous.is_none() || !next.is_none(); }
  [[nodiscard]] bool is_active() const { return state != BlockState::inactive; }
  [[nodiscard]] uint64_t end() const { return address + static_cast<uint64_t>(size); }
};
static_assert(sizeof(Block) == 64);  // small, because malloc and free wait for rows more than for anything

// What is known of a segment when it appears.
struct SegmentInfo {
  uint64_t address = 0;
  int64_t size = 0;    // expandable: of the reservation
  int64_t stream = 0;  // raw handle; all blocks are of this stream
  trace::PoolKey pool = {};
  bool small = false;  // of the small pool, else of the large one
  bool expandable = false;
  StackId stack = {};   // of the request that needed it
  uint32_t number = 0;  // Block::number of its blocks
};

struct Segment : SegmentInfo {
  int64_t mapped_bytes = 0;  // = size unless expandable
  BlockId first, last;

  [[nodiscard]] uint64_t end() const { return address + static_cast<uint64_t>(size); }
};

}  // namespace gpustrata::alloc
