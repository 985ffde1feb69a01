#include "engine/analysis/device/device_index.h"

#include "engine/base/memory_refused.h"

namespace gpustrata::analysis {

DeviceIndex::DeviceIndex(const model::Recording& recording, const model::Part& part)
    : streams(recording, part),
      segments(recording.budget),
      final_blocks(recording.budget),
      annotations(recording.budget) {}

Result<DeviceIndex> index_device(const model::Recording& recording, const model::Part& part,
                                 const replay::BlockLives& lifetimes) {
  DeviceIndex index(recording, part);
  const auto out_of_memory = [&] { return not_enough_memory(recording.budget, "to look blocks up"); };
  if (!index.segments.build(recording, part, lifetimes.device) ||
      !collect_final_blocks(recording, part, lifetimes.device, index.final_blocks)) {
    return out_of_memory();
  }
  const model::EventTable& events = recording.events;
  for (int32_t event = 0; event < lifetimes.events.count; ++event) {
    const auto row = static_cast<size_t>(lifetimes.events.first + event);
    if (events.action[row] != trace::Action::annotate) continue;
    if (!index.annotations.push_back({events.address[row], event})) return out_of_memory();
  }
  std::sort(index.annotations.data(), index.annotations.data() + index.annotations.size());
  index.stacks = stacks_there(recording, lifetimes.events);
  index.free_stacks = whose_free_stacks(recording, lifetimes);
  return index;
}

}  // namespace gpustrata::analysis
