// Files of any kind: containers, JSON, pickles.
#include "engine/io/any_reader.h"
#include "tests/fuzz/read_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpustrata;
  return tests::fuzz_reader(data, size, [](model::Recording& recording, const auto& use) {
    io::AnyReader reader(recording);
    return use(reader);
  });
}
