#include "engine/base/json_value.h"

#include <cmath>
#include <utility>

#include "engine/base/json_lexer.h"

namespace gpustrata {

namespace {

// Objects of questions are small; a long one ends the search for doubles.
constexpr size_t kMostKeys = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text, JsonTexts::checked) {}

  Result<JsonValue> parse() {
    JsonValue value;
    if (read(value, 0) && !lexer_.is_at_end()) (void)refuse("text follows the JSON value");
    if (error_.message.empty()) return value;
    return tl::unexpected(std::move(error_));
  }

 private:
  bool refuse(const char* why, ErrorCode code = ErrorCode::invalid_format) {
    if (error_.message.empty()) error_ = {code, why, static_cast<int64_t>(lexer_.place()), {}};
    return false;
  }

  bool read(JsonValue& value, int depth) {
    if (++values_ > kMostJsonValues) return refuse("too many JSON values", ErrorCode::limit_exceeded);
    const char first = lexer_.next();
    switch (first) {
      case '{':
      case '[':
        if (depth == kDeepestJson) return refuse("JSON that is too deep", ErrorCode::limit_exceeded);
        return first == '{' ? read_object(value, depth) : read_list(value, depth);
      case '"':
        value.kind = JsonValue::Kind::text;
        return lexer_.text(value.text) || refuse(lexer_.why());
      case 't':
      case 'f':
        value.kind = JsonValue::Kind::flag;
        value.flag = first == 't';
        return lexer_.take(value.flag ? "true" : "false") || refuse("no JSON value");
      case 'n':
        return lexer_.take("null") || refuse("no JSON value");
      default:
        value.kind = JsonValue::Kind::number;
        return read_number(value.number);
    }
  }

  bool read_list(JsonValue& value, int depth) {
    value.kind = JsonValue::Kind::list;
    if (!lexer_.take("[")) return false;
    if (lexer_.take("]")) return true;
    do {
      if (!read(value.items.emplace_back(), depth + 1)) return false;
    } while (lexer_.take(","));
    return lexer_.take("]") || refuse("a comma or ] is missing");
  }

  bool read_object(JsonValue& value, int depth) {
    value.kind = JsonValue::Kind::object;
    if (!lexer_.take("{")) return false;
    if (lexer_.take("}")) return true;
    do {
      if (lexer_.next() != '"') return refuse("a key is missing");
      JsonValue::Member member;
      if (!lexer_.text(member.name)) return refuse(lexer_.why());
      if (value.members.size() >= kMostKeys) return refuse("too many keys", ErrorCode::limit_exceeded);
      if (value.find(member.name) != nullptr) return refuse("a key comes twice");
      if (!lexer_.take(":")) return refuse("a colon is missing");
      if (!read(member.value, depth + 1)) return false;
      value.members.push_back(std::move(member));
    } while (lexer_.take(","));
    return lexer_.take("}") || refuse("a comma or } is missing");
  }

  bool read_number(double& number) {
    bool whole = false;
    const std::string_view digits = lexer_.number(whole);
    if (digits.empty()) return refuse(lexer_.why());
    number = json_double(digits);
    return std::isfinite(number) || refuse("a number is too large");
  }

  JsonLexer lexer_;
  size_t values_ = 0;
  Error error_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const Member& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

Result<JsonValue> parse_json(std::string_view text) { return Parser(text).parse(); }

}  // namespace gpustrata
