#include "engine/io/sniff.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "engine/base/ascii.h"

namespace gpustrata::io {

namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  Format format;
  std::string_view reason;
};

constexpr Magic kMagics[] = {
    {"\x1f\x8b"sv, Format::gzip, "Compressed with gzip."},
    {"\x28\xb5\x2f\xfd"sv, Format::zstd, "Compressed with zstd."},
    {"PK\x03\x04"sv, Format::zip, "A zip archive."},
    {"\x93gpustrata run\r\n"sv, Format::journal, "A journal of gpustrata."},
    {"PK\x05\x06"sv, Format::zip, "An empty zip archive."},
    {"BZh"sv, Format::other_packing, "This file is compressed with bzip2. Unpack it first: `bzip2 -d`."},
    {"\xfd"
     "7zXZ\0"sv,
     Format::other_packing, "This file is compressed with xz. Unpack it first: `xz -d`."},
    {"7z\xbc\xaf\x27\x1c"sv, Format::other_packing, "This is a 7-Zip archive. Unpack it first."},
    {"Rar!"sv, Format::other_packing, "This is a RAR archive. Unpack it first."},
    {"\x04\x22\x4d\x18"sv, Format::other_packing,
     "This file is compressed with lz4. Unpack it first: `lz4 -d`."},
    {"\x89PNG\r\n\x1a\n"sv, Format::png, "This is a picture (PNG), not a memory snapshot."},
    {"\x89HDF\r\n\x1a\n"sv, Format::hdf5, "This is an HDF5 file, not a memory snapshot."},
    {"\x7f"
     "ELF"sv,
     Format::elf, "This is a program or library (ELF), not a memory snapshot."},
};

[[nodiscard]] bool starts_with_any_case(std::string_view text, std::string_view lower_case) {
  if (text.size() < lower_case.size()) return false;
  return std::equal(lower_case.begin(), lower_case.end(), text.begin(),
                    [](char want, char have) { return want == ascii::lower(have); });
}

[[nodiscard]] std::string_view without_leading_space(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const size_t start = text.find_first_not_of(" \t\r\n");
  return start == std::string_view::npos ? std::string_view{} : text.substr(start);
}

// Protocols 0 and 1 have no header: a dict or list, then what the pickler writes next. A file that was cut
// inside its first bytes is the beginning of one.
[[nodiscard]] bool is_headless_pickle(std::string_view text) {
  for (const std::string_view start :
       {"(d"sv, "(l"sv, "}q"sv, "]q"sv, "}r"sv, "]r"sv, "}("sv, "]("sv, "]."sv, "}."sv}) {
    if (text.starts_with(start) || start.starts_with(text)) return true;
  }
  return false;
}

}  // namespace

Sniffed sniff(std::span<const std::byte> first_bytes) {
  const std::string_view text(reinterpret_cast<const char*>(first_bytes.data()), first_bytes.size());
  if (text.empty()) return {Format::empty, "The file is empty."};
  for (const Magic& magic : kMagics) {
    if (text.starts_with(magic.bytes)) return {magic.format, std::string(magic.reason)};
  }
  if (text == "\x80"sv) return {Format::pickle, "A Python pickle, cut after its first byte."};
  if (text.size() >= 2 && text[0] == '\x80' && static_cast<unsigned char>(text[1]) < 0x20) {
    return {Format::pickle, fmt::format("A Python pickle (protocol {}).", static_cast<int>(text[1]))};
  }
  if (is_headless_pickle(text)) return {Format::pickle, "A Python pickle (protocol 0 or 1)."};
  if (std::all_of(text.begin(), text.end(), [](char c) { return c == '\0'; })) {
    return {Format::zeros,
            "The file begins with zero bytes only: it was probably never written completely (full disk, job"
            " killed while dumping)."};
  }
  const std::string_view visible = without_leading_space(text);
  if (visible.starts_with("{") || visible.starts_with("[")) {
    return {Format::json, "JSON text."};
  }
  if (starts_with_any_case(visible, "<!doctype") || starts_with_any_case(visible, "<html") ||
      starts_with_any_case(visible, "<head") || starts_with_any_case(visible, "<script") ||
      starts_with_any_case(visible, "<!--") || starts_with_any_case(visible, "<?xml")) {
    return {Format::html, "A web page."};
  }
  constexpr size_t kShown = 8;
  std::string shown;
  for (size_t i = 0; i < std::min(text.size(), kShown); ++i) {
    fmt::format_to(std::back_inserter(shown), "{}{:02x}", i == 0 ? "" : " ",
                   static_cast<unsigned char>(text[i]));
  }
  return {Format::unknown,
          fmt::format(
              "Unrecognised format (the file begins with {}); a memory snapshot is a Python pickle and begins"
              " with 80.",
              shown)};
}

}  // namespace gpustrata::io
