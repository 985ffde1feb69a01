// Events of a device: rows of a list, and all that is known of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/analysis/details/block_details.h"
#include "engine/analysis/details/event_list.h"
#include "engine/analysis/device/event_context.h"
#include "engine/analysis/stacks/no_stack_reasons.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/replay/links.h"

namespace gpustrata::analysis {

struct EventRow {
  int32_t row = 0;  // of the list
  int32_t event = 0;
  trace::Action action{};
  std::string name;  // b'..._0, s'..._0; empty for events of neither
  int64_t size = 0;
  int32_t stream_number = 0;
  std::optional<int64_t> time_us;
  bool follows_request = false;  // a completion right after its request
};
// Rows [first, first + count) of the list, at most kMostInList.
[[nodiscard]] std::vector<EventRow> event_rows(const EventContext& context, const EventList& list,
                                               int32_t first, int32_t count);

// Events are indices, -1 = none; texts are none where nothing is said.
struct EventDetails {
  int32_t event = 0;
  trace::Action action{};
  std::string name;  // as EventRow
  uint64_t address = 0;
  int64_t size = 0;
  StreamId stream;
  int32_t stream_number = 0;
  PoolId pool;
  std::optional<int64_t> time_us;
  std::optional<int64_t> device_free;  // bytes, when memory ran out, if the file says it
  StringId compile_context, user_metadata, forward_frames;
  Annotations annotations;    // of the block
  std::vector<Extra> extras;  // at most kMostInList
  int64_t extras_left_out = 0;
  StackId stack;
  Who who;
  std::optional<NoStackReason> no_stack_reason;
  int32_t block = -1;                // row of StateHistory::blocks
  int32_t rank = -1;                 // of the timeline
  int32_t segment = -1;              // row of StateHistory::ranges
  replay::BlockEvents block_events;  // of the block
};
// The event exists. O(log n + frames + extras), and O(life) for the events of its block.
[[nodiscard]] EventDetails event_details(const EventContext& context, int32_t event);

// What `annotate` events say of a row of StateHistory::blocks; -1 = nothing.
[[nodiscard]] Annotations annotations_of(const EventContext& context, int32_t block);

}  // namespace gpustrata::analysis
