// Memory timelines of torch.profiler, without the other kinds in the way.
#include "engine/io/readers/series/memory_timeline.h"
#include "tests/fuzz/read_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return gpustrata::tests::fuzz_kind(data, size, gpustrata::io::memory_timeline_reader);
}
