// Snapshots as pickles, without the other kinds in the way.
#include "engine/io/readers/snapshot/torch_snapshot.h"
#include "tests/fuzz/read_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpustrata;
  return tests::fuzz_reader(data, size, [](model::Recording& recording, const auto& use) {
    io::TorchSnapshotReader reader(recording);
    return use(reader);
  });
}
