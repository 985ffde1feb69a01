// The sentences of the engine's sources: a table that collect.mjs makes when the command is built.
#pragma once

#include <span>
#include <string_view>

namespace gpustrata::cli {

struct Sentence {
  std::string_view file;     // below engine/
  std::string_view text;     // {} is what a file fills in
  std::string_view example;  // what a test or a document prints of it; empty: none does
};

// In the order of files, then as they stand there.
[[nodiscard]] std::span<const Sentence> sentences();

}  // namespace gpustrata::cli
