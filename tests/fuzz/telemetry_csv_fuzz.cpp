// Telemetry of gpumemprof as CSV, without the other kinds in the way.
#include "engine/io/readers/series/telemetry_csv.h"
#include "tests/fuzz/read_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpustrata;
  return tests::fuzz_reader(data, size, [](model::Recording& recording, const auto& use) {
    io::TelemetryCsvReader reader(recording, io::LeftOpen());
    const Status status = use(reader);
    if (status) recording.seal();
    return status;
  });
}
