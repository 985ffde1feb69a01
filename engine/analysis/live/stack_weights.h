// How much of a moment or of a range each stack holds.
//
// A moment is the state after an event (-1 = before the first). A range (from, to] are the events after `from` up to `to`:
// it begins in the state after `from` and ends in the state after `to`.
//   moment      blocks alive after `to`
//   allocated   blocks that an event of the range made (what was there before the recording is made by none)
//   kept        those of them alive after `to`
//   passed      those of them that an event of the range freed: they came and went
//   difference  blocks alive after `to`, less those alive after `from`; `from` may be the later one
// allocated = kept + passed.
//
// Weights: bytes as the bands have them; blocks; bytes times how long the block is there up to `to`, in bytes x
// microseconds, or x events where the recording has no times (of what was there before it, since its first event).
// Sums are doubles: exact below 2^53. O(bands).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/base/words.h"
#include "engine/model/recording.h"
#include "engine/replay/timeline.h"

namespace gpustrata::analysis {

GPUSTRATA_WORDS(BlocksOf, moment, allocated, kept, passed, difference);
GPUSTRATA_WORDS(WeightBy, bytes, blocks, time);

struct WeightsAsked {
  BlocksOf of = BlocksOf::moment;
  WeightBy by = WeightBy::bytes;
  int32_t from = -1, to = -1;  // -1 to events.count - 1

  bool operator==(const WeightsAsked&) const = default;
};

struct StackWeight {
  double weight = 0;  // of `difference`: after `to`
  double before = 0;  // of `difference`: after `from`, else 0
  double lit = 0;     // of weight: blocks that the filter means
  int64_t blocks = 0;
  int64_t blocks_before = 0;

  void add(const StackWeight& other) {
    weight += other.weight;
    before += other.before;
    lit += other.lit;
    blocks += other.blocks;
    blocks_before += other.blocks_before;
  }
};

struct StackWeights {
  explicit StackWeights(Budget& budget) : of_node(budget) {}

  Column<StackWeight> of_node;  // by innermost node of StackTable
  StackWeight without;          // blocks without a stack
  StackWeight all;
  bool in_time = false;  // `time` is in microseconds, else in events
};

struct BandsAsked {
  const model::Recording& recording;
  const replay::Bands& bands;
  const replay::Timeline& timeline;  // of a view with the same events: positions of events in time
  std::span<const StackId> stacks;   // per band
  std::span<const uint8_t> matched;  // per band 0 or 1; empty = no filter
  bool only_matched = false;         // the others do not count at all
};

// False = no memory.
[[nodiscard]] bool find_stack_weights(const BandsAsked& of, const WeightsAsked& asked, StackWeights& found);

// What a range (from, to] did, whatever the stacks. O(bands).
struct RangeTotals {
  struct Sum {
    int64_t bytes = 0, blocks = 0;
  };
  int32_t from = -1, to = -1;
  int64_t level_before = 0, level_after = 0;  // in the state that it begins and ends in
  int64_t peak = 0;         // highest of the states after its events, and of that it begins in
  int32_t peak_event = -1;  // the earliest of it
  Sum allocated, kept, passed;
  Sum freed;  // whenever they were made
};
[[nodiscard]] RangeTotals find_range_totals(const replay::Bands& bands, int32_t from, int32_t to);

}  // namespace gpustrata::analysis
