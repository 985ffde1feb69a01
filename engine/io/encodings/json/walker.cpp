#include "engine/io/encodings/json/walker.h"

#include <cstring>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/io/limits.h"

namespace gpustrata::io::json {

using model::Diag;
using values::Tag;

namespace {

// Ends a number or a word.
[[nodiscard]] bool is_delimiter(char c) {
  return ascii::is_space(c) || c == ',' || c == ':' || c == ']' || c == '}' || c == '[' || c == '{' ||
         c == '"';
}

// Behind the string that `text` is inside of; npos if it does not end there.
[[nodiscard]] size_t behind_string(std::string_view text, bool& escaped) {
  size_t at = 0;
  if (escaped && !text.empty()) {
    at = 1;
    escaped = false;
  }
  for (;;) {
    while (at < text.size() && text[at] != '"' && text[at] != '\\') ++at;
    if (at >= text.size()) return std::string_view::npos;
    if (text[at] == '"') return at + 1;
    if (at + 1 == text.size()) {
      escaped = true;
      return std::string_view::npos;
    }
    at += 2;
  }
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

size_t ValueEnd::scan(std::string_view text, bool& ended) {
  ended = false;
  size_t at = 0;
  if (kind == Kind::none && !text.empty()) {
    const char first = text[0];
    kind = first == '"' ? Kind::string : first == '{' || first == '[' ? Kind::container : Kind::scalar;
    if (kind == Kind::string) in_string = true;
    if (kind == Kind::container) depth = 1;
    at = 1;
  }
  if (kind == Kind::scalar) {
    while (at < text.size() && !is_delimiter(text[at])) ++at;
    ended = at < text.size();
    return at;
  }
  while (at < text.size()) {
    if (in_string) {
      const size_t behind = behind_string(text.substr(at), escaped);
      if (behind == std::string_view::npos) return text.size();
      at += behind;
      in_string = false;
      if (kind == Kind::string) {
        ended = true;
        return at;
      }
      continue;
    }
    switch (text[at++]) {
      case '"':
        in_string = true;
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) {
          ended = true;
          return at;
        }
        break;
      default:
        break;
    }
  }
  return at;
}

bool Walker::halt_at(Halt halt, std::string text) {
  halt_ = halt;
  halt_offset_ = place();
  halt_text_ = std::move(text);
  return false;
}

size_t Walker::walk(std::span<char> text, int64_t offset, bool last) {
  offset_ = offset;
  at_ = 0;
  last_ = last;
  if (const std::string_view seen(text.data(), text.size()); offset == 0) {
    if (seen.starts_with(kByteOrderMark)) {
      at_ = kByteOrderMark.size();
    } else if (!last && kByteOrderMark.starts_with(seen)) {
      return 0;  // cut within the mark
    }
  }
  while (halt_ == Halt::none && step(text)) {
  }
  if (last && halt_ == Halt::none) (void)halt_at(Halt::ended, "the JSON text ends before its last bracket");
  return at_;
}

// False: more text is needed, or halted.
bool Walker::step(std::span<char> text) {
  if (skipping_.kind != ValueEnd::Kind::none) {
    bool ended = false;
    at_ += skipping_.scan({text.data() + at_, text.size() - at_}, ended);
    if (!ended) return false;
    skipping_ = {};
    return true;
  }
  while (at_ < text.size() && ascii::is_space(text[at_])) ++at_;
  if (at_ == text.size()) return false;
  const char c = text[at_];
  switch (want_) {
    case Want::colon:
      if (c != ':') return halt_at(Halt::damaged, "a colon is missing");
      ++at_;
      want_ = Want::value;
      return true;
    case Want::comma:
      if (c == ',') {
        ++at_;
        want_ = builder_.in_dict() ? Want::key : Want::value;
        return true;
      }
      if (c == (builder_.in_dict() ? '}' : ']')) return close();
      return halt_at(Halt::damaged, "a comma is missing");
    case Want::key:
    case Want::first_key:
      if (c == '}') return close();
      if (c != '"') return halt_at(Halt::damaged, "a key is missing");
      return read_value(text);
    case Want::first_item:
    case Want::value:
      if (c == ']' && builder_.depth() > 0 && !builder_.in_dict()) return close();
      if (c == ']' || c == '}' || c == ',' || c == ':') return halt_at(Halt::damaged, "a value is missing");
      return read_value(text);
  }
  return false;
}

// The value or key at at_: as a whole if it is short, else member by member.
bool Walker::read_value(std::span<char> text) {
  const bool is_key = want_ == Want::key || want_ == Want::first_key;
  const std::string_view rest(text.data() + at_, text.size() - at_);
  const std::string_view in_reach = rest.substr(0, kJsonPieceBytes);
  bool ended = false;
  looked_at_ += end_.scan(in_reach.substr(looked_at_), ended);
  // A number at the very end of the text.
  if (!ended && last_ && end_.kind == ValueEnd::Kind::scalar && looked_at_ == rest.size())
    ended = builder_.depth() == 0;
  if (!ended && rest.size() < kJsonPieceBytes && !last_) return false;

  const size_t length = std::exchange(looked_at_, 0);
  const ValueEnd::Kind kind = std::exchange(end_, {}).kind;
  if (ended) {
    const std::span<char> piece = text.subspan(at_, length);
    const bool taken = is_key ? pieces_.read_key(piece, place()) : pieces_.read(piece, place());
    at_ += length;
    if (!taken) return halt_at(Halt::out_of_budget, "");
    if (!is_key) return after_value();
    want_ = Want::colon;
    return true;
  }
  if (kind == ValueEnd::Kind::container) return enter(rest[0]);
  if (kind == ValueEnd::Kind::string && rest.size() >= kJsonPieceBytes) return read_long_string(text, is_key);
  if (last_) {  // cut inside of a string or number
    at_ = text.size();
    return false;
  }
  return halt_at(Halt::damaged, "something that is no JSON value");
}

bool Walker::enter(char bracket) {
  if (builder_.depth() >= kMaxJsonWalked) {
    diagnostics_.add(Diag::text_cut, place());
    skipping_ = {ValueEnd::Kind::container, false, false, 1};
    ++at_;
    return builder_.add({Tag::dropped, 0, 0}) ? after_value() : halt_at(Halt::out_of_budget, "");
  }
  const bool is_dict = bracket == '{';
  if (!builder_.open(is_dict, place())) return halt_at(Halt::out_of_budget, "");
  ++at_;
  want_ = is_dict ? Want::first_key : Want::first_item;
  return true;
}

// Keeps the beginning of a string, up to where no escape sequence and no character is cut in two.
bool Walker::read_long_string(std::span<char> text, bool is_key) {
  diagnostics_.add(Diag::long_string_cut, place());
  constexpr size_t kLongestEscape = 12;  // a pair of surrogates
  const std::string_view rest(text.data() + at_, text.size() - at_);
  size_t kept = kJsonPieceBytes - 1;
  const size_t escape = rest.substr(0, kept).find_last_not_of("0123456789abcdefABCDEFu\\", kept - 1);
  if (escape != std::string_view::npos && kept - escape <= 2 * kLongestEscape) kept = escape + 1;
  while (kept > 1 && (static_cast<unsigned char>(rest[kept]) & 0xC0U) == 0x80) --kept;
  bool escaped = false;
  (void)behind_string(rest.substr(1, kept - 1), escaped);
  if (escaped) --kept;
  std::string beginning(rest.substr(0, kept));
  beginning += '"';
  const size_t length = beginning.size();
  beginning.append(kPiecePadding, ' ');
  const std::span<char> piece(beginning.data(), length);
  const bool taken = is_key ? pieces_.read_key(piece, place()) : pieces_.read(piece, place());
  at_ += kept;
  skipping_ = {ValueEnd::Kind::string, true, false, 0};
  if (!taken) return halt_at(Halt::out_of_budget, "");
  if (!is_key) return after_value();
  want_ = Want::colon;
  return true;
}

bool Walker::close() {
  ++at_;
  if (!builder_.close(false)) return halt_at(Halt::out_of_budget, "");
  return after_value();
}

bool Walker::after_value() {
  want_ = Want::comma;
  return builder_.depth() > 0 || halt_at(Halt::complete, "");
}

}  // namespace gpustrata::io::json
