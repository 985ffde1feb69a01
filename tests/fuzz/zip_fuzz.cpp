// Zip archives, and through their members all other kinds.
#include "engine/io/containers/zip_reader.h"
#include "tests/fuzz/read_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpustrata;
  return tests::fuzz_reader(data, size, [](model::Recording& recording, const auto& use) {
    io::OpenedFile file{recording};
    io::ZipReader reader(file, "", 0);
    Status status = use(reader);
    if (status) recording.seal();
    return status;
  });
}
