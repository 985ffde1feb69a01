// A snapshot of running allocators: what the recorder kept and the state it led to, as a Recording.
//
// The same content as torch.cuda.memory._snapshot(): `segments` are the mapped ranges of all devices in
// address order, `device_traces` the events, oldest first, `external_annotations` the regions, and
// `allocator_settings` those of the first device. Beside them: trace_alloc_max_entries and
// trace_alloc_overflowed, one value per device, and under the key `gpustrata`
//   {"lost_events": [n per device], "lost_annotations": n, "lost_stacks": n, "context": level or null,
//    "skip_actions": [names]}
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/alloc/device_allocator.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/trace/recorder.h"

namespace gpustrata::model {

struct SnapshotOptions {
  std::optional<trace::PoolKey> pool = std::nullopt;  // segments of this pool only; the trace stays whole
  bool include_traces = true;
};

// Fills `recording`, which must be fresh; the caller seals it, as a reader does, once its stacks have names:
// capture records addresses of code and looks their names up without the locks. The allocators' events went to recorder.device() of
// their ordinal; ordinals ascend. Afterwards every allocator has a `snapshot` event, as in PyTorch: after its
// trace was copied. The caller holds the locks of all devices, so that history and state belong together.
// O(events + blocks + all stacks of the recorder). Error: limit_exceeded.
[[nodiscard]] Status take_snapshot(const trace::Recorder& recorder,
                                   std::span<alloc::DeviceAllocator* const> allocators,
                                   const SnapshotOptions& options, Recording& recording);

// `allocator_settings` as JSON text, with PyTorch's keys.
[[nodiscard]] std::string settings_json(const alloc::Config& config);

// Attaches a text to the block at `address`: the event `annotate`. Error: wrong_usage if no live block starts
// there.
[[nodiscard]] Status annotate_block(const alloc::DeviceAllocator& allocator, trace::Recorder& recorder,
                                    uint64_t address, std::string_view text, StackId stack = {});

}  // namespace gpustrata::model
