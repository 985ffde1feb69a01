// What a StateView keeps; only its own files include this.
#pragma once

#include <optional>
#include <utility>

#include "engine/analysis/device/event_context.h"
#include "engine/replay/memory_at.h"
#include "engine/session/state_view.h"

namespace gpustrata::session {

struct StateView::Parts {
  Parts(const replay::Device& device_, const replay::StateHistory& history_,
        const analysis::DeviceIndex& index_)
      : device(device_),
        recording(device.recording),
        history(history_),
        index(index_),
        memory(history, recording.budget),
        layout(recording.budget) {}

  [[nodiscard]] analysis::EventContext context() const {
    return {recording, device.part, history, device.lives, index};
  }
  // Moves the state, and packs the layout if that is asked for.
  [[nodiscard]] Status go_to(int32_t event, bool packed = false) {
    const int32_t before = memory.event();
    if (!memory.go_to(event)) return no_memory();
    if (memory.event() != before) is_packed = false;
    if (packed && !is_packed) {
      if (!layout.pack(memory)) return no_memory();
      is_packed = true;
    }
    return {};
  }
  [[nodiscard]] tl::unexpected<Error> no_memory() const {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the state after an event");
  }

  const replay::Device& device;
  const model::Recording& recording;
  const replay::StateHistory& history;
  const analysis::DeviceIndex& index;
  replay::MemoryAt memory;
  replay::StateLayout layout;
  bool is_packed = false;
  std::optional<replay::AddressMap> map;
  replay::RegionOrder map_order = replay::RegionOrder::address;
  Column<int32_t> map_pixels{recording.budget};
  Column<float> free_shares{recording.budget};
  Column<int32_t> rank_of_block{recording.budget};  // per row of history.blocks, once asked for
  bool are_ranked = false;
};

}  // namespace gpustrata::session
