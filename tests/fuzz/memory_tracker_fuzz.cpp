// Statistics of MemoryTracker, without the other kinds in the way.
#include "engine/io/readers/series/memory_tracker.h"
#include "tests/fuzz/read_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpustrata;
  return tests::fuzz_reader(data, size, [](model::Recording& recording, const auto& use) {
    io::MemoryTrackerReader reader(recording, io::LeftOpen());
    const Status status = use(reader);
    if (status) recording.seal();
    return status;
  });
}
