// A way past the machine for what makes up nearly all of a file: dicts that become rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/io/encodings/pickle/memo.h"
#include "engine/io/values/value.h"

namespace gpustrata::io::pickle {

class Shortcut {
 public:
  virtual ~Shortcut() = default;
  struct Taken {
    size_t bytes = 0;  // 0 = the machine has to read it
    Value rows;        // what all those dicts are together
  };
  // `bytes` begins with EMPTY_DICT, at `offset` in the file. Takes as many neighbouring dicts as it can and
  // does to the memo what the machine would have done. A dict is taken as a whole or not at all, and only if
  // the opcode behind it is there and completes it: EMPTY_DICT or APPENDS.
  [[nodiscard]] virtual Taken take(std::span<const uint8_t> bytes, int64_t offset, Memo& memo) = 0;
};

}  // namespace gpustrata::io::pickle
