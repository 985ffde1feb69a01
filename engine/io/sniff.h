// Which container or encoding is this? Decided from the first bytes, never from the name; what a pickle or
// JSON holds is the registry's to tell.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace gpustrata::io {

enum class Format : uint8_t {
  pickle,
  gzip,
  zstd,
  zip,
  json,
  html,
  journal,
  other_packing,
  png,
  hdf5,
  elf,
  zeros,
  empty,
  unknown
};

struct Sniffed {
  Format format = Format::unknown;
  // A sentence for a person: what was found, and for formats that are not read, what to do instead.
  std::string reason;
};

inline constexpr size_t kSniffBytes = 512;  // enough for every decision; fewer bytes are the whole file

// Something of it may be read here.
[[nodiscard]] constexpr bool is_read(Format format) { return format <= Format::journal; }

[[nodiscard]] constexpr bool is_container(Format format) {
  return format == Format::gzip || format == Format::zstd || format == Format::zip || format == Format::html;
}

[[nodiscard]] Sniffed sniff(std::span<const std::byte> first_bytes);

}  // namespace gpustrata::io
