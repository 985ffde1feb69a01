// Telemetry of gpumemprof as JSON, without the other kinds in the way.
#include "engine/io/readers/series/telemetry.h"
#include "tests/fuzz/read_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return gpustrata::tests::fuzz_kind(data, size, gpustrata::io::telemetry_reader);
}
