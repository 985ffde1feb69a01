// Everything that is known of one block of the timeline.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/analysis/device/block_sources.h"
#include "engine/analysis/device/device_index.h"
#include "engine/analysis/stacks/no_stack_reasons.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

struct Extra {
  enum class Of : uint8_t { itself, final_block, free } of;
  StringId key, value;
};

// Events are indices into the device's trace, -1 = none; texts are none where nothing is said.
struct BlockDetails {
  enum class KnownBy : uint8_t { alloc, free, final_state };
  enum class PoolFrom : uint8_t { nothing, event, segment };

  int32_t rank = -1;
  uint64_t address = 0;
  uint32_t version = 0;
  KnownBy known_by = KnownBy::alloc;
  int64_t requested_size = 0;
  std::optional<int64_t> block_size;       // rounded up; of blocks of the final state
  std::optional<model::BlockState> state;  // the same: when it was saved
  StreamId stream;
  int32_t stream_number = 0;
  PoolId pool;
  PoolFrom pool_from = PoolFrom::nothing;

  int32_t born_event = -1, free_requested_event = -1, freed_event = -1;
  std::optional<int64_t> born_time_us, freed_time_us, lifetime_us;
  int32_t lifetime_events = 0;
  std::optional<int64_t> total_after;  // bytes alive after the alloc

  BlockTexts texts;
  StringId forward_frames;
  Annotations annotations;
  std::vector<Extra> extras;  // at most kMostInList
  int64_t extras_left_out = 0;

  StackId stack;                              // to be shown; none = nothing is recorded
  StackFrom stack_from = StackFrom::nothing;  // whose it is
  Who who;
  std::vector<NoStackReason> no_stack_reasons;  // the most certain first; empty if there is a stack
};

// `rank` exists. O(log n + extras + frames).
[[nodiscard]] BlockDetails block_details(const model::Recording& recording,
                                         const replay::BlockLives& lifetimes, const DeviceIndex& index,
                                         int32_t rank);

// The stack that details, labels and colours show of a block; none = nothing is recorded. O(log n).
[[nodiscard]] StackId shown_stack(const model::Recording& recording, const replay::BlockLives& lifetimes,
                                  const DeviceIndex& index, int32_t rank);

}  // namespace gpustrata::analysis
