// The picture of the allocator's state after an event: segments packed into rows, blocks inside them, as
// rectangles bounded by pixels.
//
// Layout of the official viewer: segments by size, then address, smallest first, packed left to right into
// rows; a row is as wide as the largest segment, 1/200 of that lies between two segments, a segment that does
// not fit starts the next row; all rows have the same height, of which 80 % are filled. A block is drawn at
// its requested size, the rounded-up rest is a strip at its end.
//
// Blocks narrower than a pixel are drawn together, as the kind that has most bytes and in the mean colour of
// what is of that kind; of rows lower than a pixel one per pixel is drawn. So there are at most 3 rectangles a
// pixel column and row of the screen.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/words.h"
#include "engine/replay/band_colours.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::replay {

GPUSTRATA_WORDS(StateKind, segment, block, rounding, pending, gap);

// Where the layout is looked at: at zoom 1 all of it fills width x height pixels; (left, top) is the upper
// left corner of the window in pixels of the zoomed layout.
// Numbers that no screen has (not finite, sides below 1 or above 2^16, zoom below 1 or above 2^40) show nothing.
struct StateWindow {
  double width = 0, height = 0;
  double zoom = 1;  // >= 1
  double left = 0, top = 0;
};

// Pixels of the window, from the upper left. A segment comes before what is in it.
struct StateRects {
  std::vector<float> x, y, width, height;
  std::vector<uint8_t> kind;  // StateKind
  std::vector<int32_t> row;   // of StateHistory::ranges for a segment, else of blocks; -1 = several, or a gap
  std::vector<float> free;    // of a segment: the share of it that is free, 0 to 1; else 0
  // Only with a paint. Of the block, as the timeline colours it; 0 for a segment and a gap.
  std::vector<uint32_t> colour;
  std::vector<uint8_t> matched;  // 0 = all blocks of the rectangle are dimmed
};

// Colours of blocks, by their ranks in the timeline.
struct StatePaint {
  const BandColours& colours;
  std::span<const int32_t> rank_of_block;  // per row of StateHistory::blocks, -1 = none (links.h)
  uint32_t unranked = 0;                   // of a block that the timeline does not show
};

class StateLayout {
 public:
  explicit StateLayout(Budget& budget) : places_(budget) {}

  // Packs the segments of the state; the layout refers to `memory` and holds until it moves. False = no
  // memory.
  [[nodiscard]] bool pack(const MemoryAt& memory);
  [[nodiscard]] int32_t row_count() const { return rows_; }
  [[nodiscard]] StateRects rects(const MemoryAt& memory, const StateWindow& window,
                                 const StatePaint* paint = nullptr) const;

  // What is drawn at a pixel of the window.
  struct Hit {
    int32_t segment = -1;  // index in MemoryAt::segments(), -1 = nothing
    int32_t block = -1;    // index in MemoryAt::blocks()
    StateKind part = StateKind::segment;
  };
  [[nodiscard]] Hit hit(const MemoryAt& memory, const StateWindow& window, double x, double y) const;
  // Where a segment of MemoryAt lies, in pixels of the zoomed layout; for moving the window there.
  struct Place {
    double x, y, width, height;
  };
  [[nodiscard]] Place place_of(const MemoryAt& memory, int32_t segment, const StateWindow& window) const;

 private:
  struct Packed {
    double x;         // bytes from the left of its row
    int32_t segment;  // index in MemoryAt::segments()
    int32_t row;
  };
  [[nodiscard]] double bytes_to_pixels(const StateWindow& window) const;

  Column<Packed> places_;  // by row, then x
  double row_bytes_ = 1;
  int32_t rows_ = 0;
};

}  // namespace gpustrata::replay
