// JSON text that is lists of numbers, in lists, in a list: told number by number as it comes, nothing is kept. For files
// whose lists are too long for values (builder.h), which hold millions of numbers and nothing else.
//
// Resumable at any byte; the result does not depend on the chunks. What is no number (null, a text, NaN, a word) is a
// value of another tag. A comma too many or too few changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/io/values/value.h"
#include "engine/model/diagnostics.h"

namespace gpustrata::io::json {

class NumberLists {
 public:
  static constexpr int kDeepest = 3;

  // All of these return false if memory was refused: nothing more is read then.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    // A list begins or ends; `depth` is its own, the outermost one has 1.
    [[nodiscard]] virtual bool open_list(int depth) = 0;
    [[nodiscard]] virtual bool close_list(int depth, int64_t offset) = 0;
    // An item of a list of that depth.
    [[nodiscard]] virtual bool item(int depth, const values::Value& value, int64_t offset) = 0;
  };
  enum class Halt : uint8_t { none, complete, ended, damaged, out_of_budget };

  NumberLists(Receiver& receiver, model::Diagnostics& diagnostics)
      : receiver_(receiver), diagnostics_(diagnostics) {}

  // `offset` is the place of the text in the file. Text behind the end is looked at for `trailing`.
  void read(std::string_view text, int64_t offset);
  // No more text; a number at the very end may be cut and does not count.
  void end(int64_t offset);

  [[nodiscard]] Halt halt() const { return halt_; }
  [[nodiscard]] int64_t halt_offset() const { return halt_offset_; }
  [[nodiscard]] const std::string& halt_text() const { return halt_text_; }
  // The first byte behind the outermost list that is no white space, -1 = none.
  [[nodiscard]] int64_t trailing() const { return trailing_; }

 private:
  static constexpr size_t kLongestToken = 64;  // a number has at most 40 digits that count

  void step(char c, int64_t offset);
  void halt_at(Halt halt, int64_t offset, std::string text);
  [[nodiscard]] bool end_token();

  Receiver& receiver_;
  model::Diagnostics& diagnostics_;
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  std::string token_;  // at most kLongestToken bytes of it
  size_t token_length_ = 0;
  int64_t token_offset_ = 0;
  Halt halt_ = Halt::none;
  int64_t halt_offset_ = -1;
  std::string halt_text_;
  int64_t trailing_ = -1;
};

}  // namespace gpustrata::io::json
