#include "engine/io/encodings/json/number_lists.h"

#include <limits>
#include <optional>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/json_number.h"
#include "engine/io/values/numbers.h"

namespace gpustrata::io::json {

using model::Diag;
using values::Tag;
using values::Value;

namespace {

// None: no value of JSON, nor what Python writes.
[[nodiscard]] std::optional<Value> value_of(std::string_view token) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (const JsonNumber number = json_number(token); number.length == token.size() && number.length > 0) {
    if (number.whole) return values::integer_of_text(token);
    if (const auto real = values::real_of_text(token)) return real;
  }
  if (token == "null") return Value{Tag::none, 0, 0};
  if (token == "true" || token == "false") return Value{Tag::boolean, 0, uint64_t{token == "true" ? 1U : 0U}};
  if (token == "NaN") return values::real(std::numeric_limits<double>::quiet_NaN());
  if (token == "Infinity") return values::real(kInfinity);
  if (token == "-Infinity") return values::real(-kInfinity);
  return std::nullopt;
}

}  // namespace

void NumberLists::halt_at(Halt halt, int64_t offset, std::string text) {
  halt_ = halt;
  halt_offset_ = offset;
  halt_text_ = std::move(text);
}

// False: halted.
bool NumberLists::end_token() {
  if (token_length_ == 0) return true;
  const bool is_long = std::exchange(token_length_, 0) > kLongestToken;
  const std::string token = std::exchange(token_, {});
  if (depth_ == 0) {
    halt_at(Halt::damaged, token_offset_, "a value outside of the list");
    return false;
  }
  Value value{Tag::dropped, 0, 0};
  if (const auto read = is_long ? std::nullopt : value_of(token)) {
    value = *read;
  } else if (is_long && token.find_first_not_of("-0123456789") == std::string::npos) {
    value = {Tag::huge_integer, 0, kLongestToken};
  } else {
    diagnostics_.add(Diag::invalid_json, token_offset_);
  }
  if (receiver_.item(depth_, value, token_offset_)) return true;
  halt_at(Halt::out_of_budget, token_offset_, {});
  return false;
}

void NumberLists::step(char c, int64_t offset) {
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      if (!receiver_.item(depth_, {Tag::dropped, 0, 0}, offset)) halt_at(Halt::out_of_budget, offset, {});
    }
    return;
  }
  const bool is_mark = c == '[' || c == ']' || c == ',' || c == '"' || c == '{' || c == '}' || c == ':';
  if (!is_mark && !ascii::is_space(c)) {
    if (token_length_++ == 0) token_offset_ = offset;
    if (token_.size() < kLongestToken) token_ += c;
    return;
  }
  if (!end_token() || ascii::is_space(c) || c == ',') return;
  switch (c) {
    case '[':
      if (depth_ == kDeepest) return halt_at(Halt::damaged, offset, "a list nested too deeply");
      if (!receiver_.open_list(++depth_)) halt_at(Halt::out_of_budget, offset, {});
      return;
    case ']':
      if (depth_ == 0) return halt_at(Halt::damaged, offset, "a bracket without its list");
      if (!receiver_.close_list(depth_, offset)) return halt_at(Halt::out_of_budget, offset, {});
      if (--depth_ == 0) halt_at(Halt::complete, offset, {});
      return;
    case '"':
      if (depth_ == 0) return halt_at(Halt::damaged, offset, "a text outside of the list");
      in_string_ = true;
      return;
    default:
      halt_at(Halt::damaged, offset, "an object among lists of numbers");
  }
}

void NumberLists::read(std::string_view text, int64_t offset) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  size_t at = 0;
  for (; at < text.size() && halt_ == Halt::none; ++at) {
    const int64_t place = offset + static_cast<int64_t>(at);
    if (place < 3 && text[at] == kByteOrderMark[static_cast<size_t>(place)]) continue;
    step(text[at], place);
  }
  if (halt_ != Halt::complete || trailing_ >= 0) return;
  for (; at < text.size(); ++at) {
    if (ascii::is_space(text[at]) || text[at] == '\0') continue;
    trailing_ = offset + static_cast<int64_t>(at);
    return;
  }
}

void NumberLists::end(int64_t offset) {
  if (halt_ == Halt::none) halt_at(Halt::ended, offset, "the JSON text ends before its last bracket");
}

}  // namespace gpustrata::io::json
