// The active memory timeline as pixels: at any zoom, bounded by the pixels asked for, heights exact.
//
// Method (measured against five others): columns are swept left to right over a tree on stack order whose
// node totals are cached until the node's next free (64 blocks per leaf, 4096 per node). A picture is block
// ranks per pixel; colours come later (paint.h), so colouring, hover and selection need no new query.
//
// Columns lie on a grid fixed per zoom level: column k covers [k * width, (k + 1) * width) events or
// microseconds since the first event, so nothing jumps while panning. A column shows the state after its
// event of the highest level (earliest on ties): no peak is lost and each column is one true state. A column
// without an event (time axis) shows the state before it. The initial state has no column of its own: the
// column at position 0 shows it (event -1) if it is higher than every event of that column, or if there are
// no events.
//
// Rows: row r shows the block that covers the centre of row r, counted from the bottom. Every edge is within
// half a pixel of exact and nothing accumulates. Where that block is lower than a row, the row has the mean
// colour of all that it covers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/status.h"
#include "engine/base/words.h"
#include "engine/model/recording.h"
#include "engine/replay/band_colours.h"
#include "engine/replay/bands.h"
#include "engine/replay/grouped_bands.h"

namespace gpustrata::replay {

GPUSTRATA_WORDS(Axis, event, time);

// Answers of a value per column are not charged: a question has at most 65,536 columns (session/arguments.h).
struct ColumnGrid {
  Axis axis = Axis::event;
  int64_t first = 0;  // grid index k of the leftmost column, may be negative
  int64_t width = 1;  // events or microseconds per column, >= 1
  int32_t count = 0;  // columns
};

struct RowGrid {
  double bottom = 0;         // bytes at the lower edge of row 0, may be negative
  double bytes_per_row = 1;  // > 0
  int32_t count = 0;
};

// A pixel: rank in the lower 30 bits, or a mean colour; kNothing above the stack and outside the recording.
inline constexpr uint32_t kNothing = 0xFFFFFFFFu;
inline constexpr uint32_t kMergedBit = 0x80000000u;  // the block's band is lower than one row
inline constexpr uint32_t kRankMask = 0x3FFFFFFFu;
// A merged row drawn with colours: the lower 24 bits are 0xBBGGRR, the mean of every byte of the row that the
// stack covers (whole bytes: row r is [floor(lower edge), floor(upper edge))).
inline constexpr uint32_t kMeanBits = 0xC0000000u;
inline constexpr uint32_t kMeanMask = 0x00FFFFFFu;
[[nodiscard]] constexpr bool is_mean(uint32_t pixel) { return (pixel & ~kMeanMask) == kMeanBits; }

// Bytes per column, all but `reserved` as requested (not rounded up to blocks); NaN where the column lies
// outside the recording.
struct Curves {
  std::vector<int32_t> event;     // the event whose state is shown; -1 = before the first; -2 = outside
  std::vector<double> highest;    // level at that event
  std::vector<double> lowest;     // lowest level in the column
  std::vector<double> allocated;  // requested bytes in use: level minus pending bytes, at that event
  std::vector<double> reserved;   // highest in the column
};

struct EventRange;

// What levels are like after the events of a range; of one without events: in the state before it.
struct LevelsIn {
  int32_t event = -2;  // of the highest, as above
  int64_t highest = 0, lowest = 0, reserved = 0;
};

// One level in columns, NaN where it is not known.
struct LevelValues {
  std::vector<double> highest, lowest;
};

class Timeline {
 public:
  Timeline(Timeline&&) noexcept;
  Timeline& operator=(Timeline&&) noexcept;
  ~Timeline();

  // Keeps references to both: they must neither move nor change. Not for several threads at once, not even
  // the const functions (they share scratch memory). Error: limit_exceeded.
  [[nodiscard]] static Result<Timeline> build(const model::Recording& recording, const Bands& bands);
  // The same levels, made of the same bands stacked by group: whatever names a band means its place there. It refers to
  // what was built for this one, and to `bands`, which must neither move nor change. Error: limit_exceeded.
  [[nodiscard]] Result<Timeline> restacked(const GroupedBands& bands, Budget& budget) const;

  // Length of the axis: max(events, 1), or microseconds from first to last event plus 1 (0 = no times).
  [[nodiscard]] int64_t extent(Axis axis) const;

  // Pixels, column after column, row 0 (bottom) first: count = columns * rows. Without `colours` a merged row
  // has the rank at its centre and kMergedBit. Rows of more than 2^47 bytes have no means.
  void draw(const ColumnGrid& columns, const RowGrid& rows, std::span<uint32_t> pixels,
            const BandColours* colours = nullptr) const;
  [[nodiscard]] Curves curves(const ColumnGrid& columns) const;
  // The events of each column, and what is so in a range that is inside.
  [[nodiscard]] std::vector<EventRange> ranges(const ColumnGrid& columns) const;
  [[nodiscard]] LevelsIn levels_in(const EventRange& range) const;
  // Highest level in the columns' range, for fitting y. O(log events).
  [[nodiscard]] int64_t highest_level(const ColumnGrid& columns) const;

  // Event whose state column k shows (see Curves::event).
  [[nodiscard]] int32_t event_of_column(Axis axis, int64_t k, int64_t width) const;
  // Rank of the block at that height after that event, -1 = none.
  [[nodiscard]] int32_t pick(int32_t event, double bytes) const;
  // Appends the bands of [from, to) that are live after that event, in stack order. O(tree + those). False = no memory.
  [[nodiscard]] bool live_at(int32_t event, Column<int32_t>& found, int32_t from = 0,
                             int32_t to = INT32_MAX) const;
  // Bytes below the block after that event (it need not be live). O(tree).
  [[nodiscard]] int64_t offset_of(int32_t rank, int32_t event) const;
  // Lower edge per column, NaN where the block's life does not touch it. Where the column shows a state
  // without the block: the edge after the event of the highest level in that part of its life.
  [[nodiscard]] std::vector<double> outline(int32_t rank, const ColumnGrid& columns) const;
  // The same of any life [born, freed): bytes of live blocks below `rank`, which may be the number of blocks.
  [[nodiscard]] std::vector<double> edge(int32_t rank, int32_t born, int32_t freed,
                                         const ColumnGrid& columns) const;
  // Position of an event on an axis: its index, or microseconds since the first event (latest time so far).
  // 0 for -1; extent(axis) from the event after the last on.
  [[nodiscard]] int64_t position(Axis axis, int32_t event) const;
  // The last event at or before a position: what is shown there is the state after it. -1 = there is none.
  // O(log events).
  [[nodiscard]] int32_t event_at(Axis axis, int64_t position) const;

 private:
  struct Levels;
  struct Index;
  explicit Timeline(std::unique_ptr<Index> index);

  std::unique_ptr<Index> index_;
};

}  // namespace gpustrata::replay
