// Questions about the allocator's states of a device: events, the state after each, and the links between a
// block's events, its rectangle and its band in the timeline.
//
// Made by Device::states(). Answers are structs, or arrays bounded by pixels that stay valid until the next call. An event beyond the last is taken as the last. Rows of blocks and segments that do not exist are
// refused (wrong_usage).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/analysis/details/address_owner.h"
#include "engine/analysis/details/event_details.h"
#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/details/state_info.h"
#include "engine/analysis/device/device_index.h"
#include "engine/analysis/device/event_context.h"
#include "engine/base/status.h"
#include "engine/replay/address_map.h"
#include "engine/replay/device.h"
#include "engine/replay/state_layout.h"

namespace gpustrata::session {

class StateView {
 public:
  // All must outlive the view.
  [[nodiscard]] static std::unique_ptr<StateView> open(const replay::Device& device,
                                                       const replay::StateHistory& history,
                                                       const analysis::DeviceIndex& index);
  ~StateView();

  [[nodiscard]] analysis::StateInfo info(int32_t peak_event) const;
  // The device with all that its answers refer to.
  [[nodiscard]] analysis::EventContext context() const;
  [[nodiscard]] const replay::StateHistory& history() const;

  // -- Events.
  // None: there is no such event.
  [[nodiscard]] std::optional<analysis::EventDetails> event_details(int32_t event) const;
  // The next event with this action after `from`, or before it; -1 = none. Error: wrong_usage, no such action.
  [[nodiscard]] Result<int32_t> find_event(std::string_view action, int32_t from, bool backwards) const;

  // -- The state after an event; -1 = before the first. O(live blocks + changes since the last one asked
  // for). Error of all: limit_exceeded.
  [[nodiscard]] Result<analysis::MemoryTotals> totals(int32_t event);
  // With colours the rectangles have some (View::draw_state).
  [[nodiscard]] Result<replay::StateRects> layout(int32_t event, const replay::StateWindow& window,
                                                  const replay::BandColours* colours = nullptr,
                                                  uint32_t unranked = 0);
  // Rank in the timeline of each rectangle, -1 = none.
  [[nodiscard]] Result<std::vector<int32_t>> ranks_of(const replay::StateRects& rects);
  // What lies there in memory().
  [[nodiscard]] Result<replay::StateLayout::Hit> pick(int32_t event, const replay::StateWindow& window,
                                                      double x, double y);
  [[nodiscard]] Result<analysis::StateBlock> block(int32_t event, int32_t block);
  // None: it does not exist after the event.
  [[nodiscard]] Result<std::optional<analysis::StateSegment>> segment(int32_t event, int32_t range);
  [[nodiscard]] Result<analysis::AddressOwner> owner(int32_t event, uint64_t address);
  [[nodiscard]] Result<std::optional<analysis::StatePlace>> place(int32_t event, int32_t block,
                                                                  const replay::StateWindow& window);
  // The state that was asked for last.
  [[nodiscard]] const replay::MemoryAt& memory() const;

  // -- The address map over time (replay/address_map.h). Built when first asked for. Error: limit_exceeded.
  // Rows [first, first + count) in that order, at most 1,000.
  [[nodiscard]] Result<analysis::RegionList> regions(replay::RegionOrder order, int32_t first, int32_t count);
  // columns.count * count * height numbers, rows from the top; count is limited to the regions there are.
  [[nodiscard]] Result<std::span<const int32_t>> address_map(replay::RegionOrder order,
                                                             const replay::ColumnGrid& columns, int32_t first,
                                                             int32_t count, int32_t height);
  // Of those rows, the share of each that is free in each column: AddressMap::free_shares().
  [[nodiscard]] Result<std::span<const float>> free_shares(replay::RegionOrder order,
                                                           const replay::ColumnGrid& columns, int32_t first,
                                                           int32_t count);
  // Row of the region around a block, in that order; -1 = none.
  [[nodiscard]] Result<int32_t> region_of_block(replay::RegionOrder order, int32_t block);

  // -- Links.
  // -1 = the rank is none of a block.
  [[nodiscard]] int32_t block_of_rank(int32_t rank) const;
  // -1 = the timeline does not show it.
  [[nodiscard]] Result<int32_t> rank_of_block(int32_t block);

 private:
  struct Parts;
  [[nodiscard]] Status sort_regions(replay::RegionOrder order);
  [[nodiscard]] Status check_block(int32_t block) const;
  [[nodiscard]] Status rank_blocks();
  explicit StateView(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace gpustrata::session
