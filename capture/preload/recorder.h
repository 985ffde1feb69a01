// The recorder (libgpustrata_capture.so) of this process: loaded when the driver is first used.
#pragma once

#include "capture/driver/recorder_api.h"

namespace gpustrata::preload {

struct Recorder {
  decltype(&gpustrata_driver_begin) begin;
  decltype(&gpustrata_driver_allocated) allocated;
  decltype(&gpustrata_driver_freeing) freeing;
  decltype(&gpustrata_driver_kept) kept;
  decltype(&gpustrata_driver_refused) refused;
  decltype(&gpustrata_driver_ending) ending;
  decltype(&gpustrata_driver_not_ended) not_ended;
  decltype(&gpustrata_driver_created) created;
  decltype(&gpustrata_driver_releasing) releasing;
  decltype(&gpustrata_driver_mapped) mapped;
  decltype(&gpustrata_driver_unmapped) unmapped;
  decltype(&gpustrata_driver_found) found;
  decltype(&gpustrata_driver_region) region;
  decltype(&gpustrata_driver_end) end;
};

// Null: nothing is recorded here. Waits for a thread that is loading it, but not for long: that one may wait for what the
// caller holds.
[[nodiscard]] const Recorder* recorder();
// Null as well where it is not loaded yet.
[[nodiscard]] const Recorder* loaded_recorder();

}  // namespace gpustrata::preload
