// Which device is shown first where nobody chose one: the telling one.
//
//  1. The one that ran out of memory (an `oom` event); of several the one that did so last, by time.
//  2. Else, or if that is equal: the one with the highest peak.
//  3. Else the first: snapshots in the order of the file, devices by ordinal.
// Pinned host memory only if there is no other device.
//
// The peak is that of the net of allocs and frees over the final state: exact where the trace does not
// contradict itself. One pass over the events and final blocks of each device, nothing is kept; none if there
// is no choice.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/model/recording.h"

namespace gpustrata::replay {

struct DeviceChoice {
  int32_t part = 0;  // index in Recording::parts
  int32_t device = 0;
};

// Of all snapshots. None if no snapshot has a device with a segment or an event.
[[nodiscard]] std::optional<DeviceChoice> default_device(const model::Recording& recording);
// Of one snapshot.
[[nodiscard]] std::optional<int32_t> default_device(const model::Recording& recording,
                                                    const model::Part& part);

}  // namespace gpustrata::replay
