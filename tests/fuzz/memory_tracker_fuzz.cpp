// Statistics of MemoryTracker, without the other kinds in the way.
#include "engine/io/readers/series/memory_tracker.h"
#include "tests/fuzz/read_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return gpustrata::tests::fuzz_kind(data, size, gpustrata::io::memory_tracker_reader);
}
