// What questions about single blocks and events of a device look up: gathered once, so that pointing at a
// block costs O(log n) and no pass over the events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/analysis/device/block_sources.h"
#include "engine/analysis/device/stream_numbers.h"
#include "engine/analysis/stacks/no_stack_reasons.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/segment_index.h"

namespace gpustrata::analysis {

inline constexpr int32_t kMostInList = 1000;  // entries of a list in an answer; real ones are far shorter

struct DeviceIndex {
  DeviceIndex(const model::Recording& recording, const model::Part& part);

  StreamNumbers streams;
  replay::SegmentIndex segments;
  Column<AddressAndRow> final_blocks;  // active blocks of the final state, by address
  Column<AddressAndRow> annotations;   // `annotate` events, by address, then event
  StacksThere stacks;
  FreeStacks free_stacks = FreeStacks::unknown;  // whose call the frames of frees belong to

  // Row of SegmentTable whose range holds the address, -1 = none. O(log segments).
  [[nodiscard]] int32_t segment_around(uint64_t address) const { return segments.row_around(address); }
};

// Texts of annotations in the order of events, at most kMostInList.
struct Annotations {
  std::vector<StringId> texts;
  int64_t left_out = 0;
};
// About the block that lives at `address` between the events `born` and `end`, both exclusive, of those
// events that `is_of_it`. O(log annotations + those).
template <typename IsOfIt>
[[nodiscard]] Annotations annotations_of(const model::Recording& recording, model::RowRange events,
                                         const DeviceIndex& index, uint64_t address, int32_t born,
                                         int32_t end, IsOfIt is_of_it) {
  Annotations found;
  const auto* note =
      std::upper_bound(index.annotations.begin(), index.annotations.end(), AddressAndRow{address, born});
  for (; note != index.annotations.end() && note->address == address && note->row < end; ++note) {
    if (!is_of_it(note->row)) continue;
    if (found.texts.size() == kMostInList) {
      ++found.left_out;
    } else {
      found.texts.push_back(recording.events.metadata[events.first + note->row]);
    }
  }
  return found;
}

// O(events + blocks log blocks). Error: limit_exceeded.
[[nodiscard]] Result<DeviceIndex> index_device(const model::Recording& recording, const model::Part& part,
                                               const replay::BlockLives& lifetimes);

}  // namespace gpustrata::analysis
