// Questions about the allocator's state of the current view's device: events, the state after each, and the
// links between a block's events, its rectangle and its band in the timeline.
//
// Made by Session::open_state(), replaced by the next open_view(). Answers are JSON text or arrays bounded by
// pixels; arrays stay valid until the next call. An event index that does not exist is taken as the nearest
// one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/analysis/event_list.h"
#include "engine/base/status.h"
#include "engine/replay/address_map.h"
#include "engine/replay/device.h"
#include "engine/replay/state_layout.h"

namespace memstrata::session {

class StateView {
 public:
  // The device must outlive the view. Error: limit_exceeded.
  [[nodiscard]] static Result<std::unique_ptr<StateView>> open(replay::Device& device);
  ~StateView();

  // {"events","blocks": lives of blocks,"ranges","peak_event","oom_events","snapshot_events",
  // "annotate_events": number of such events}
  [[nodiscard]] std::string info_json() const;
  [[nodiscard]] const model::Diagnostics& diagnostics() const;
  [[nodiscard]] const replay::StateHistory& history() const;

  // -- The list of events.
  // The number of rows; kept until the next call. Error: limit_exceeded; then all events are listed.
  [[nodiscard]] Result<int32_t> filter_events(const analysis::EventFilter& filter);
  [[nodiscard]] std::string event_rows_json(int32_t first, int32_t count) const;  // analysis/event_json.h
  // Row of an event in the list, or of the next one listed.
  [[nodiscard]] int32_t row_of_event(int32_t event) const;
  [[nodiscard]] std::string event_details_json(int32_t event) const;
  // The next event of a kind after `from`, or before it; -1 = none. Kind: an action's name, or "peak".
  [[nodiscard]] int32_t find_event(std::string_view kind, int32_t from, bool backwards) const;

  // -- The state after an event; -1 = before the first. O(live blocks + changes since the last one asked
  // for). Error of all: limit_exceeded.
  [[nodiscard]] Result<std::string> totals_json(int32_t event);
  [[nodiscard]] Result<replay::StateRects> layout(int32_t event, const replay::StateWindow& window);
  [[nodiscard]] Result<std::string> pick_json(int32_t event, const replay::StateWindow& window, double x,
                                              double y);
  [[nodiscard]] Result<std::string> block_json(int32_t event, int32_t block);
  [[nodiscard]] Result<std::string> segment_json(int32_t event, int32_t range);
  // {"x","y","width","height"} of the segment around a block (in pixels of the zoomed layout) and the block's
  // own
  // {"block_x","block_width"}; null if it does not exist after the event.
  [[nodiscard]] Result<std::string> place_json(int32_t event, int32_t block,
                                               const replay::StateWindow& window);

  // -- The address map over time (replay/address_map.h). Built when first asked for. Error: limit_exceeded.
  // {"count","rows":[{"row","name","address","size","stream","stream_handle","pool","expandable","pieces"}]},
  // of rows [first, first + count) in that order, at most 1,000.
  [[nodiscard]] Result<std::string> regions_json(replay::RegionOrder order, int32_t first, int32_t count);
  // columns.count * count * height numbers, rows from the top; count is limited to the regions there are.
  [[nodiscard]] Result<std::span<const int32_t>> address_map(replay::RegionOrder order,
                                                             const replay::ColumnGrid& columns, int32_t first,
                                                             int32_t count, int32_t height);
  // Row of the region around a block, in that order; -1 = none.
  [[nodiscard]] Result<int32_t> region_of_block(replay::RegionOrder order, int32_t block);

  // -- Links.
  [[nodiscard]] int32_t block_of_rank(int32_t rank) const;
  [[nodiscard]] int32_t rank_of_block(int32_t block) const;

 private:
  struct Parts;
  [[nodiscard]] Status sort_regions(replay::RegionOrder order);
  explicit StateView(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace memstrata::session
