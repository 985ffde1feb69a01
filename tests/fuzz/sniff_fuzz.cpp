// What kind of file is it? On any bytes: an answer, with a sentence; and a reason that lies inside of them.
#include <cstdlib>

#include "engine/io/registry.h"
#include "engine/io/sniff.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpustrata::io;
  const auto sniffed = sniff({reinterpret_cast<const std::byte*>(data), size});
  if (sniffed.reason.empty()) std::abort();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Format encoding : {Format::pickle, Format::json, Format::unknown}) {
    const Told told = tell(encoding, text);
    if (told.offset >= static_cast<int64_t>(size) && told.offset > 0) std::abort();
    if ((told.kind != nullptr) == told.reason.empty()) std::abort();
  }
  return 0;
}
