#include "engine/replay/device.h"

#include <utility>

namespace gpustrata::replay {

namespace {

[[nodiscard]] model::Part host_as_device(const model::Part& part) {
  model::Part host = part;
  host.segments = part.host_segments;
  host.traces.assign(1, {kHostDevice, part.host_events});
  return host;
}

}  // namespace

Device::Device(const model::Recording& recording_, model::Part&& part_, int32_t ordinal, BlockLives&& found)
    : recording(recording_), part(std::move(part_)), rows(rows_of(part, ordinal)), lives(std::move(found)) {}

Result<std::unique_ptr<Device>> Device::open(const model::Recording& recording, const model::Part& part,
                                             int32_t ordinal) {
  model::Part own = ordinal == kHostDevice ? host_as_device(part) : part;
  auto lives = find_block_lives(recording, own, ordinal);
  if (!lives) return tl::unexpected(lives.error());
  return std::unique_ptr<Device>(new Device(recording, std::move(own), ordinal, std::move(*lives)));
}

Result<bool> Device::build_history(double share) {
  if (history_) return true;
  if (!builder_) builder_.emplace(recording, part, ordinal());
  while (builder_->share() < share) {
    auto done = builder_->step(StateBuilder::kSlice);
    if (done && !*done) continue;
    if (done) history_.emplace(builder_->take());
    builder_.reset();
    return done;
  }
  return false;
}

Result<const StateHistory*> Device::history() {
  if (const auto done = build_history(1); !done) return tl::unexpected(done.error());
  return &*history_;
}

}  // namespace gpustrata::replay
