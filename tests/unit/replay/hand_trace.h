// A Recording of one device, put together by hand.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/budget.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::replay {

class HandTrace {
 public:
  static constexpr int32_t kDevice = 0;

  explicit HandTrace(int64_t budget_bytes = int64_t{1} << 33) : budget(budget_bytes), recording(budget) {
    recording.parts.emplace_back();
  }

  HandTrace& event(trace::Action action, uint64_t address, int64_t size, int64_t time_us = model::kNoTime) {
    auto& events = recording.events;
    ok_ &= events.action.push_back(action) && events.address.push_back(address) &&
           events.size.push_back(size) && events.time.push_back(time_us) && events.stack.push_back({}) &&
           events.context.push_back({}) && events.metadata.push_back({}) &&
           events.stream.push_back(StreamId{}) && events.pool.push_back({});
    return *this;
  }
  HandTrace& alloc(uint64_t address, int64_t size) { return event(trace::Action::alloc, address, size); }
  HandTrace& request(uint64_t address, int64_t size) {
    return event(trace::Action::free_requested, address, size);
  }
  HandTrace& complete(uint64_t address, int64_t size) {
    return event(trace::Action::free_completed, address, size);
  }

  HandTrace& segment(uint64_t address, int64_t total_size, int32_t device = kDevice) {
    auto& segments = recording.segments;
    const model::RowRange blocks{static_cast<int32_t>(recording.blocks.size_rows()), 0};
    ok_ &= segments.device.push_back(device) && segments.address.push_back(address) &&
           segments.total_size.push_back(total_size) &&
           segments.allocated_size.push_back(model::kUnknownSize) &&
           segments.active_size.push_back(model::kUnknownSize) &&
           segments.requested_size.push_back(model::kUnknownSize) && segments.stream.push_back(StreamId{}) &&
           segments.pool.push_back({}) && segments.type.push_back(model::SegmentType::unknown) &&
           segments.expandable.push_back(model::Tristate::unknown) && segments.stack.push_back({}) &&
           segments.metadata.push_back({}) && segments.blocks.push_back(blocks);
    return *this;
  }
  // Of the last segment.
  HandTrace& block(uint64_t address, int64_t size, int64_t requested_size, model::BlockState state) {
    auto& blocks = recording.blocks;
    ok_ &= blocks.address.push_back(address) && blocks.size.push_back(size) &&
           blocks.requested_size.push_back(requested_size) && blocks.state.push_back(state) &&
           blocks.stack.push_back({}) && blocks.metadata.push_back({}) && blocks.history.push_back({});
    ++recording.segments.blocks.back().count;
    return *this;
  }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] Result<BlockLives> lifetimes() {
    model::Part& part = recording.parts[0];
    part.traces = {{.device = kDevice,
                    .events = {0, static_cast<int32_t>(recording.events.size_rows())},
                    .lost_oldest = lost_oldest}};
    part.segments = {0, static_cast<int32_t>(recording.segments.size_rows())};
    return find_block_lives(recording, part, kDevice);
  }

  Budget budget;
  model::Recording recording;
  std::optional<bool> lost_oldest;  // DeviceTrace::lost_oldest

 private:
  bool ok_ = true;
};

}  // namespace gpustrata::replay
