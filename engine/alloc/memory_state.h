// The memory of one device: segments, the blocks that tile them, and their statistics.
//
// No decisions are made here: DeviceAllocator applies the ones it makes. There is one method per trace action; their names
// are the actions'.
// After every call the blocks of a segment tile it, idle neighbours are one block, and the statistics are
// those of the blocks (check_invariants() says so).
//
// Memory: rows with 32-bit ids in arrays that grow by halves, charged to the budget; ids of vanished blocks
// are used again, so steady work takes none. A method that may need memory returns a none id (or false) if
// the budget refuses, and has changed nothing then. Preconditions are the caller's: replay of an untrusted
// file checks them first.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engine/alloc/block.h"
#include "engine/alloc/live_blocks.h"
#include "engine/alloc/stats.h"
#include "engine/alloc/treap.h"
#include "engine/base/budget.h"
#include "engine/base/column.h"

namespace gpustrata::alloc {

// Who uses a block.
struct Use {
  int64_t requested_size = 0;
  StackId stack = {};
  StringId metadata = {};
};

// A block was cut out of another. Parts that do not exist are none.
struct Carved {
  BlockId block;   // none = no memory
  BlockId before;  // what is left on its lower side; only when the cut was not at the start
  BlockId after;   // what is left on its upper side
};

// A block took its idle neighbours in. Their ids are gone; until the next call, which may use them again,
// their address, size and links can still be read.
struct Merged {
  BlockId block;  // none = no memory
  std::array<BlockId, 2> absorbed;
};

class MemoryState {
 public:
  explicit MemoryState(Budget& budget);

  // --- The trace's actions -----------------------------------------------------------------------------

  // A new segment, one inactive block: mapped, or unmapped if expandable (then nothing is counted yet: the
  // trace knows expandable segments only by segment_map). None = no memory.
  [[nodiscard]] SegmentId segment_alloc(const SegmentInfo& info);
  // The segment is one inactive block. Expandable: one unmapped block, again nothing is counted.
  void segment_free(SegmentId segment);

  // [address, address + size) of an unmapped block becomes inactive memory. O(1).
  [[nodiscard]] Merged segment_map(BlockId unmapped, uint64_t address, int64_t size);
  // [address, address + size) of an inactive mapped block is given up; what remains of it on both sides is in
  // `rest`. O(1).
  struct Unmapped : Merged {
    BlockId before, after;
  };
  [[nodiscard]] Unmapped segment_unmap(BlockId inactive, uint64_t address, int64_t size);

  // The first `size` bytes of an inactive mapped block are handed out. O(1).
  [[nodiscard]] Carved alloc(BlockId inactive, int64_t size, const Use& use);
  // active_allocated -> active_pending_free.
  void free_requested(BlockId allocated);
  // active_pending_free -> inactive, one block with idle neighbours.
  Merged free_completed(BlockId pending);

  // --- Questions ---------------------------------------------------------------------------------------

  [[nodiscard]] const Block& block(BlockId id) const { return blocks_[id.index()]; }
  [[nodiscard]] const Segment& segment(SegmentId id) const { return segments_[id.index()]; }
  [[nodiscard]] const Segment& segment_of(BlockId id) const { return segments_[block(id).segment.index()]; }
  // In address order; the blocks of each follow from Segment::first by Block::next.
  [[nodiscard]] std::span<const SegmentId> segments() const { return by_address_.span(); }
  // The active block that starts here, or none. O(1).
  [[nodiscard]] BlockId live_block_at(uint64_t address) const { return live_.find(address, blocks_); }
  // The segment around an address, or none. O(log segments).
  [[nodiscard]] SegmentId segment_containing(uint64_t address) const;
  // The block around an address, or none. O(blocks of the segment).
  [[nodiscard]] BlockId block_containing(uint64_t address) const;

  [[nodiscard]] size_t segment_count() const { return by_address_.size(); }
  [[nodiscard]] size_t block_count() const { return blocks_.size() - vanished_blocks_; }
  [[nodiscard]] size_t live_block_count() const { return live_.size(); }

  // These are the allocator's own.
  [[nodiscard]] TreapLinks& links(BlockId id) { return blocks_[id.index()].links; }
  void set_birth(BlockId id, int64_t birth) { blocks_[id.index()].birth = static_cast<uint32_t>(birth); }
  void set_number(BlockId id, uint32_t number) { blocks_[id.index()].number = number; }

  [[nodiscard]] const MemoryStats& stats() const { return stats_; }
  // For the counters that the allocator keeps itself, and for resets.
  [[nodiscard]] MemoryStats& stats() { return stats_; }

 private:
  static constexpr size_t kMostNewBlocks = 2;  // that one method makes

  [[nodiscard]] bool make_room();
  [[nodiscard]] BlockId new_block(const Block& row);
  void drop_block(BlockId id);
  // `id` keeps [address, address + size); the rest goes to new blocks with the same row. Room must be there.
  [[nodiscard]] Carved carve(BlockId id, uint64_t address, int64_t size);
  // Takes idle neighbours with the same `mapped` in.
  [[nodiscard]] Merged merge(BlockId id);
  [[nodiscard]] bool can_merge(BlockId id, BlockId neighbour) const;
  // inactive_split and its bytes: one net change each; the sums `allocated` and `freed` show it.
  void change_split(const Block& block, int64_t blocks, int64_t bytes);
  void count_reserved(const SegmentInfo& segment, int64_t change);
  // Position in by_address_ of the first segment that starts above `address`.
  [[nodiscard]] size_t position_after(uint64_t address) const;

  Column<Block> blocks_;
  Column<Segment> segments_;
  Column<SegmentId> by_address_;
  // Vanished rows form lists through Block::next and Segment::first (there the number of a segment).
  BlockId vanished_block_;
  size_t vanished_blocks_ = 0;
  SegmentId vanished_segment_;
  LiveBlocks live_;
  MemoryStats stats_;
};

}  // namespace gpustrata::alloc
