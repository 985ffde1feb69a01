// Snapshots as JSON text, without the other kinds in the way.
#include "engine/io/readers/snapshot/torch_snapshot.h"
#include "tests/fuzz/read_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return gpustrata::tests::fuzz_kind(data, size, gpustrata::io::json_snapshot_reader);
}
