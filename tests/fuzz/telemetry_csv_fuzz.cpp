// Telemetry of gpumemprof as CSV, without the other kinds in the way.
#include "engine/io/readers/series/telemetry_csv.h"
#include "tests/fuzz/read_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return gpustrata::tests::fuzz_kind(data, size, gpustrata::io::telemetry_csv_reader);
}
