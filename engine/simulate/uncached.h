// Recorded requests without a cache (PYTORCH_NO_CUDA_MEMORY_CACHING=1): each goes to the device, each free gives its
// memory back and waits for whoever uses it.
//
// Sizes are rounded up to 512 bytes, as the device aligns them; what its driver keeps beyond that is not known. Pools
// and settings have no effect. O(requests); memory: a byte a request, charged.
#pragma once

#include "engine/simulate/trial.h"

namespace gpustrata::simulate {

struct UncachedRun {
  int64_t peak = 0, end = 0;  // bytes
  int64_t device_allocs = 0, device_frees = 0, ooms = 0;
  int32_t first_oom = -1;  // row of the log; -1 = none
  int64_t first_oom_bytes = 0;
};

// Errors as of try_requests(); Trial::refused as there.
[[nodiscard]] Result<UncachedRun> try_uncached(const TrialInput& input, std::vector<uint8_t>& refused,
                                               Budget& budget);

}  // namespace gpustrata::simulate
