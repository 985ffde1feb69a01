// Values put together bottom up, for encodings whose containers say where they end (JSON): a container is
// handed to the schema as soon as it is complete. No tree of objects exists; what is unfinished lies in one
// array.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/string_pool.h"
#include "engine/io/values/schema.h"
#include "engine/model/diagnostics.h"

namespace gpustrata::io::values {

class Builder {
 public:
  Builder(StringPool& strings, Budget& budget, model::Diagnostics& diagnostics, Schema& schema)
      : strings_(strings), diagnostics_(diagnostics), schema_(schema), items_(budget) {}

  // All of these return false once memory was refused; then nothing more is taken.
  [[nodiscard]] bool open(bool is_dict, int64_t offset);
  [[nodiscard]] bool key(std::string_view text);
  [[nodiscard]] bool add_text(std::string_view text, int64_t offset);
  [[nodiscard]] bool add(Value value);
  // The innermost container is complete; `partial`: the input ended or is damaged inside of it.
  [[nodiscard]] bool close(bool partial);

  [[nodiscard]] size_t depth() const { return opens_.size(); }
  [[nodiscard]] bool in_dict() const { return !opens_.empty() && opens_.back().is_dict; }
  // The outermost value once all is closed.
  [[nodiscard]] const Value& result() const { return result_; }

 private:
  struct Open {
    int64_t offset = 0;  // of its bracket
    size_t first = 0;    // of its members in items_
    Value key;           // of the member that comes next
    bool is_dict = false;
    bool cut = false;  // members were left out
  };

  StringPool& strings_;
  model::Diagnostics& diagnostics_;
  Schema& schema_;
  Column<Value> items_;
  std::vector<Open> opens_;  // as many as the encoding allows
  Value result_{Tag::none, 0, 0};
};

}  // namespace gpustrata::io::values
