// What a StateView keeps; only its own files include this.
#pragma once

#include <optional>
#include <utility>

#include "engine/analysis/event_context.h"
#include "engine/replay/memory_at.h"
#include "engine/session/state_view.h"

namespace memstrata::session {

struct StateView::Parts {
  Parts(const model::Recording& recording_, const model::Snapshot& snapshot_,
        const replay::Lifetimes& lifetimes_, replay::StateHistory&& found, analysis::DeviceIndex&& indexed)
      : recording(recording_),
        snapshot(snapshot_),
        lifetimes(lifetimes_),
        history(std::move(found)),
        index(std::move(indexed)),
        list(recording_.budget),
        memory(history, recording_.budget),
        layout(recording_.budget) {
    list.show_all(history.event_count());
  }

  [[nodiscard]] analysis::EventContext context() const {
    return {recording, snapshot, history, lifetimes, index};
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

  const model::Recording& recording;
  const model::Snapshot& snapshot;
  const replay::Lifetimes& lifetimes;
  replay::StateHistory history;
  analysis::DeviceIndex index;
  analysis::EventList list;
  replay::MemoryAt memory;
  replay::StateLayout layout;
  bool is_packed = false;
  std::optional<replay::AddressMap> map;
  replay::RegionOrder map_order = replay::RegionOrder::address;
  Column<int32_t> map_pixels{recording.budget};
};

}  // namespace memstrata::session
