// JSON text in chunks -> pieces. Only what is longer than kJsonPieceBytes is walked through member by member;
// everything else is handed on as a whole. The result does not depend on the chunks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/io/encodings/json/piece_reader.h"
#include "engine/io/values/builder.h"
#include "engine/model/diagnostics.h"

namespace gpustrata::io::json {

// Where a value ends: brackets are counted outside of strings. Resumable at any byte.
struct ValueEnd {
  enum class Kind : uint8_t { none, string, container, scalar };
  Kind kind = Kind::none;
  bool in_string = false;
  bool escaped = false;
  uint64_t depth = 0;

  // Looks at `text` and tells how many bytes belong to the value; `ended` if its last one is among them.
  [[nodiscard]] size_t scan(std::string_view text, bool& ended);
};

class Walker {
 public:
  enum class Halt : uint8_t {
    none,
    complete,  // the outermost value is
    ended,     // by finish(), inside of it
    damaged,
    out_of_budget,
  };

  Walker(values::Builder& builder, PieceReader& pieces, model::Diagnostics& diagnostics)
      : builder_(builder), pieces_(pieces), diagnostics_(diagnostics) {}

  // Reads what can be read of `text`, `offset` being its place, and tells how many bytes that was. The
  // others, at most kJsonPieceBytes, come again in front of the next ones. `text` may be written to, and
  // kPiecePadding bytes behind it can be read. `last`: no more text comes.
  [[nodiscard]] size_t walk(std::span<char> text, int64_t offset, bool last);

  [[nodiscard]] Halt halt() const { return halt_; }
  [[nodiscard]] int64_t halt_offset() const { return halt_offset_; }
  [[nodiscard]] const std::string& halt_text() const { return halt_text_; }

 private:
  enum class Want : uint8_t { value, first_item, key, first_key, colon, comma };

  [[nodiscard]] bool step(std::span<char> text);
  [[nodiscard]] bool read_value(std::span<char> text);
  [[nodiscard]] bool enter(char bracket);
  [[nodiscard]] bool read_long_string(std::span<char> text, bool is_key);
  [[nodiscard]] bool close();
  [[nodiscard]] bool after_value();
  [[nodiscard]] bool halt_at(Halt halt, std::string text);
  [[nodiscard]] int64_t place() const { return offset_ + static_cast<int64_t>(at_); }

  values::Builder& builder_;
  PieceReader& pieces_;
  model::Diagnostics& diagnostics_;
  Want want_ = Want::value;
  ValueEnd end_;          // of the value at at_, as far as it was looked at
  size_t looked_at_ = 0;  // bytes of it
  ValueEnd skipping_;     // a value or the rest of one that is left out
  int64_t offset_ = 0;    // of the text at hand
  size_t at_ = 0;         // next byte of it
  bool last_ = false;
  Halt halt_ = Halt::none;
  int64_t halt_offset_ = -1;
  std::string halt_text_;
};

}  // namespace gpustrata::io::json
