// What kind of file is it? On any bytes: an answer, with a sentence.
#include <cstdlib>

#include "engine/io/sniff.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto sniffed = memstrata::io::sniff({reinterpret_cast<const std::byte*>(data), size});
  if (sniffed.reason.empty()) std::abort();
  return 0;
}
