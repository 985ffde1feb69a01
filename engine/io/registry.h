// Registry: which reader reads a file, and why. Two stages, both from the bytes, never from a name:
//
//   first bytes ──sniff.h──> a container, which is unpacked and looked at again, or an encoding (pickle,
//   JSON, text) beginning of what it encodes ──first telling key or shape──> kind of file ──> its reader, or
//   what it is in words
//
// A new kind of file is a reader in readers/ and one line in registry.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/io/reader.h"
#include "engine/io/sniff.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// As much of the beginning as is searched for what tells. Traces of profilers have some KB before their
// events.
inline constexpr size_t kTellingBytes = size_t{256} << 10;

using Words = std::array<std::string_view, 4>;  // empty ones are none

struct Kind {
  std::string_view name;             // for a person: "a memory snapshot of PyTorch"
  Format encoding = Format::pickle;  // pickle, json, or unknown: any other bytes
  // What tells it; what comes first in the file decides. A JSON key, or a text of a pickle, anywhere:
  Words keys = {};
  // A key of the outermost JSON object, or of an object in the outermost list:
  Words outer_keys = {};
  // How its beginning looks, after white space and a byte order mark:
  bool (*shape)(std::string_view beginning) = nullptr;
  // Null: not read here.
  std::unique_ptr<Reader> (*make)(model::Recording& recording) = nullptr;
  // Then the whole of what is said instead.
  std::string_view refusal = {};
};

// All kinds. Of an encoding the first with a reader is what a file is taken for if nothing tells.
[[nodiscard]] std::span<const Kind> all_kinds();

struct Told {
  const Kind* kind = nullptr;  // null: no kind of this encoding is known
  std::string reason;          // "the key \"segments\" at byte 2 tells a memory snapshot of PyTorch"
  int64_t offset = -1;         // of what told it, -1 = nothing did
};
// `beginning` is what the encoding has first, kTellingBytes of it if there are so many. O(beginning).
[[nodiscard]] Told tell(Format encoding, std::string_view beginning,
                        std::span<const Kind> kinds = all_kinds());

}  // namespace gpustrata::io
