// One whole JSON value in memory -> values::Builder, by simdjson. The only file that knows simdjson.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/io/values/builder.h"

namespace gpustrata::io::json {

// Bytes that must be readable behind a piece.
inline constexpr size_t kPiecePadding = 64;

class PieceReader {
 public:
  PieceReader(values::Builder& builder, model::Diagnostics& diagnostics);
  ~PieceReader();

  // `piece` is one value from its first to its last byte, at most kJsonPieceBytes, `offset` its place in the
  // text. Bytes that are no UTF-8 are overwritten. What cannot be understood is left out and counted. False:
  // memory was refused.
  [[nodiscard]] bool read(std::span<char> piece, int64_t offset);
  // The key of the member that comes next, with its quotes.
  [[nodiscard]] bool read_key(std::span<char> piece, int64_t offset);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpustrata::io::json
