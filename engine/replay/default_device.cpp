#include "engine/replay/default_device.h"

#include <algorithm>
#include <compare>
#include <vector>

#include "engine/replay/state_history.h"

namespace gpustrata::replay {

namespace {

using trace::Action;

// Wide enough for the sum of any number of sizes, whatever a hostile file says.
using Sum = __int128;

// The greater one tells more.
struct Telling {
  bool ran_out = false;
  int64_t last_time_us = model::kNoTime;  // of an `oom` event
  Sum peak = 0;

  auto operator<=>(const Telling&) const = default;
};

// Bytes in use by one way to count frees: running sum, lowest and highest.
struct Net {
  Sum now = 0, lowest = 0, highest = 0;

  void add(Sum bytes) {
    now += bytes;
    lowest = std::min(lowest, now);
    highest = std::max(highest, now);
  }
  // Before the trace were at least the bytes that it frees without having allocated them.
  [[nodiscard]] Sum peak(Sum final_bytes) const { return std::max(final_bytes - now, -lowest) + highest; }
};

[[nodiscard]] Sum final_bytes_of(const model::Recording& recording, const model::Part& part, int32_t device) {
  const model::BlockTable& blocks = recording.blocks;
  Sum bytes = 0;
  for (int32_t segment = part.segments.first; segment < part.segments.end(); ++segment) {
    if (recording.segments.device[segment] != device) continue;
    const model::RowRange rows = recording.segments.blocks[segment];
    for (int32_t row = rows.first; row < rows.end(); ++row) {
      if (blocks.state[row] != model::BlockState::active_allocated) continue;
      const int64_t requested = blocks.requested_size[row];
      bytes += std::max(requested == model::kUnknownSize ? blocks.size[row] : requested, int64_t{0});
    }
  }
  return bytes;
}

[[nodiscard]] Telling telling_of(const model::Recording& recording, const model::Part& part, int32_t device) {
  const model::EventTable& events = recording.events;
  const model::RowRange rows = part.events_of(device);
  Telling found;
  Net by_completion, by_request;  // some traces have requests only (block_lives.h)
  bool any_completion = false;
  for (int32_t row = rows.first; row < rows.end(); ++row) {
    const Action action = events.action[row];
    const Sum size = std::max(events.size[row], int64_t{0});
    if (action == Action::alloc) {
      by_completion.add(size);
      by_request.add(size);
    } else if (trace::completes_free(action)) {
      any_completion = true;
      by_completion.add(-size);
    } else if (action == Action::free_requested) {
      by_request.add(-size);
    } else if (action == Action::oom) {
      found.ran_out = true;
      found.last_time_us = std::max(found.last_time_us, events.time[row]);
    }
  }
  found.peak = (any_completion ? by_completion : by_request).peak(final_bytes_of(recording, part, device));
  return found;
}

[[nodiscard]] std::optional<DeviceChoice> most_telling(const model::Recording& recording,
                                                       const std::vector<DeviceChoice>& choices) {
  if (choices.empty()) return std::nullopt;
  if (choices.size() == 1) return choices[0];
  DeviceChoice best = choices[0];
  std::optional<Telling> most;
  for (const DeviceChoice& choice : choices) {
    const model::Part& part = recording.parts[static_cast<size_t>(choice.part)];
    const Telling telling = telling_of(recording, part, choice.device);
    if (most && telling <= *most) continue;
    most = telling;
    best = choice;
  }
  return best;
}

}  // namespace

std::optional<DeviceChoice> default_device(const model::Recording& recording) {
  std::vector<DeviceChoice> choices, hosts;
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    const model::Part& part = recording.parts[i];
    const auto index = static_cast<int32_t>(i);
    for (const int32_t device : part.devices(recording.segments)) choices.push_back({index, device});
    if (part.host_segments.count > 0 || part.host_events.count > 0) hosts.push_back({index, kHostDevice});
  }
  if (choices.empty() && !hosts.empty()) return hosts[0];
  return most_telling(recording, choices);
}

std::optional<int32_t> default_device(const model::Recording& recording, const model::Part& part) {
  std::vector<DeviceChoice> choices;
  const auto index = static_cast<int32_t>(&part - recording.parts.data());
  for (const int32_t device : part.devices(recording.segments)) choices.push_back({index, device});
  const auto best = most_telling(recording, choices);
  if (best) return best->device;
  const bool has_host = part.host_segments.count > 0 || part.host_events.count > 0;
  return has_host ? std::optional(kHostDevice) : std::nullopt;
}

}  // namespace gpustrata::replay
