// Schema: what the containers of one kind of file mean.
//
// An encoding (pickle, JSON) reads values bottom up and hands over each container as soon as it is complete,
// in the order of the file; the schema answers with what takes its place. So the keys of a dict may come in
// any order, and memory is what the schema keeps.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/io/values/value.h"

namespace gpustrata::io::values {

// How a container came to its end.
struct Ending {
  int64_t offset = 0;    // where it is in the file; of a pickle that of the opcode that finished it
  bool partial = false;  // the input ended inside
  bool cut = false;      // it had more members than are kept
};

// Tag::undefined as answer: memory was refused.
class Schema {
 public:
  virtual ~Schema() = default;
  // key value key value ...
  [[nodiscard]] virtual Value finish_dict(std::span<const Value> pairs, const Ending& ending) = 0;
  // Also tuples and sets.
  [[nodiscard]] virtual Value finish_list(std::span<const Value> items, const Ending& ending) = 0;
  // Is a text "0x..." under this key a number? JSON has no integers above 2^53 that all its readers keep.
  [[nodiscard]] virtual bool has_hex_numbers(std::string_view key) const {
    (void)key;
    return false;
  }
};

}  // namespace gpustrata::io::values
