#include "engine/io/reader.h"

#include <algorithm>
#include <cstring>

namespace gpustrata::io {

Status push(Reader& reader, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::span<std::byte> target = reader.writable();
    const size_t count = std::min(target.size(), bytes.size());
    if (count > 0) std::memcpy(target.data(), bytes.data(), count);
    if (Status status = reader.commit(count); !status) return status;
    if (count == 0) return {};  // the reader has no buffer and said why
    bytes = bytes.subspan(count);
  }
  return {};
}

}  // namespace gpustrata::io
