// What a snapshot says of its allocator's settings, as far as they explain a failed request.
//
// Source: `allocator_settings` (2023 on); keys that it has not are read from the text of
// PYTORCH_CUDA_ALLOC_CONF that it repeats. What was set by a call (set_per_process_memory_fraction) is in no file.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/alloc/config.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

struct AllocatorSettings {
  bool known = false;                       // the snapshot has settings
  std::optional<bool> expandable_segments;  // none = the file does not say
  std::optional<double> memory_fraction;    // of the device, below 1; none = no limit that the file tells
  int64_t max_split_size = alloc::kUnlimited;
};

// O(length of the settings).
[[nodiscard]] AllocatorSettings allocator_settings(const model::Recording& recording,
                                                   const model::Part& part);

}  // namespace gpustrata::analysis
