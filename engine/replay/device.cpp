#include "engine/replay/device.h"

#include <utility>

namespace memstrata::replay {

namespace {

[[nodiscard]] model::Snapshot host_as_device(const model::Snapshot& snapshot) {
  model::Snapshot host = snapshot;
  host.segments = snapshot.host_segments;
  host.traces.assign(1, {kHostDevice, snapshot.host_events});
  return host;
}

}  // namespace

Device::Device(const model::Recording& recording_, model::Snapshot&& snapshot_, int32_t ordinal,
               BlockLives&& found)
    : recording(recording_),
      snapshot(std::move(snapshot_)),
      rows(rows_of(snapshot, ordinal)),
      lives(std::move(found)) {}

Result<std::unique_ptr<Device>> Device::open(const model::Recording& recording,
                                             const model::Snapshot& snapshot, int32_t ordinal) {
  model::Snapshot own = ordinal == kHostDevice ? host_as_device(snapshot) : snapshot;
  auto lives = find_block_lives(recording, own, ordinal);
  if (!lives) return tl::unexpected(lives.error());
  return std::unique_ptr<Device>(new Device(recording, std::move(own), ordinal, std::move(*lives)));
}

Result<const StateHistory*> Device::history() {
  if (!history_) {
    auto found = undo_to_start(recording, snapshot, ordinal());
    if (!found) return tl::unexpected(found.error());
    history_.emplace(std::move(*found));
  }
  return &*history_;
}

}  // namespace memstrata::replay
