// The address map over time: one row per region of device memory, in it every block at its offset, x as on
// the timeline. So fragmentation is seen as it grows.
//
// A region is a run of addresses that segments of one stream occupied at some time: a segment, or an
// expandable one with all that was ever mapped next to it. The picture is numbers per pixel, like the
// timeline's; only lives that touch the window are looked at, in order of birth, so a picture costs O(lives
// in the window + pixels). A block is at least one pixel wide and high; of blocks that share a pixel the one
// born last has it.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/column.h"
#include "engine/base/words.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/event_axis.h"
#include "engine/replay/state_history.h"
#include "engine/replay/timeline.h"

namespace gpustrata::replay {

GPUSTRATA_WORDS(RegionOrder, address, size, stream);

// A pixel: rank of the block in the timeline (>= 0), or
inline constexpr int32_t kNotMapped = -1;      // nothing is there
inline constexpr int32_t kMappedFree = -2;     // device memory that no block uses
inline constexpr int32_t kUnrankedBlock = -3;  // a block that the timeline does not show

struct Region {
  uint64_t address = 0;
  int64_t size = 0;
  int32_t range = -1;  // a row of StateHistory::ranges: the earliest one
  int32_t ranges = 0;  // how many it has
};

class AddressMap {
 public:
  // `lives` gives the ranks. Both must outlive the map. Error: limit_exceeded.
  [[nodiscard]] static Result<AddressMap> build(const model::Recording& recording,
                                                const StateHistory& history, const BlockLives& lives);

  [[nodiscard]] int32_t region_count() const { return static_cast<int32_t>(regions_.size()); }
  void sort_by(RegionOrder order);
  // In the chosen order.
  [[nodiscard]] const Region& region(int32_t row) const { return regions_[shown_[row]]; }
  // Row that holds an address, -1 = none.
  [[nodiscard]] int32_t row_of(uint64_t address) const;

  // Regions [first, first + count) from the top, each `height` pixels high, its lowest address at the bottom;
  // one pixel line of kNotMapped below each if height > 2. Rows from the top: pixels[y * columns.count + x].
  void draw(const ColumnGrid& columns, int32_t first, int32_t count, int32_t height,
            std::span<int32_t> pixels) const;
  // Of those regions, the share of what is mapped that no block uses, 0 to 1, after the last event of each column; 0 where
  // nothing is mapped. shares[row * columns.count + column]. False = no memory. O(lives in the window + shares).
  [[nodiscard]] bool free_shares(const ColumnGrid& columns, int32_t first, int32_t count,
                                 Column<float>& shares) const;

 private:
  explicit AddressMap(const StateHistory& history, Budget& budget);
  struct Picture;
  void paint(const Picture& picture, const SpanHistory& spans, int32_t row, int32_t value) const;
  // Column in which an event lies, from the first of the grid; those of no event lie at the edges of the recording.
  [[nodiscard]] int64_t column_of(const ColumnGrid& columns, int32_t event) const;
  // Calls `each(row)` for spans that exist in the window. False = no memory.
  template <typename Each>
  [[nodiscard]] bool for_each_in(const ColumnGrid& columns, const SpanHistory& spans, Each&& each) const;
  [[nodiscard]] bool build_regions();

  const StateHistory* history_;
  Budget* budget_;
  EventAxis axis_;
  Column<Region> regions_;  // by address
  Column<int32_t> shown_;   // order of the rows: index of regions_
  Column<int32_t> place_;   // its inverse
  Column<int32_t> rank_of_block_;
  mutable Column<int32_t> live_;
};

}  // namespace gpustrata::replay
