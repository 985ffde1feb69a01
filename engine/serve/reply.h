// What is sent back for a request.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>

#include "engine/base/status.h"

namespace gpustrata::serve {

struct FreeMemory {
  void operator()(char* bytes) const { std::free(bytes); }
};

// The body is the library's to free: it is copied once, out of the session's memory.
struct Reply {
  unsigned status = 200;
  std::string_view type = "text/plain; charset=utf-8";
  std::unique_ptr<char, FreeMemory> body;
  size_t size = 0;
  bool is_packed = false;  // with gzip
  bool is_gone = false;    // nobody waits for it

  // No memory: it stays empty, with status 503.
  void set(std::span<const std::byte> bytes);
  void set(std::string_view text) { set(std::as_bytes(std::span(text))); }
  // As it is, if packing does not make it smaller.
  void pack();
};

[[nodiscard]] Reply text_reply(unsigned status, std::string_view text);
[[nodiscard]] Reply json_reply(unsigned status, std::string_view json);

}  // namespace gpustrata::serve
