#include "tests/fuzz/mutator/json_values.h"

namespace gpustrata::tests {

namespace {

constexpr int kDeepest = 100;

class JsonWalk {
 public:
  explicit JsonWalk(std::string_view text) : text_(text) { found_.encoding = Encoding::json; }

  FoundValues walk() {
    // A target may take several documents.
    for (at_ = text_.find_first_of("{["); at_ < text_.size(); at_ = text_.find_first_of("{[", at_)) {
      if (found_.values.empty()) found_.document.begin = at_;
      if (!value({}, 0)) ++at_;
    }
    found_.document.end = text_.size();
    return std::move(found_);
  }

 private:
  void skip(std::string_view letters) {
    while (at_ < text_.size() && letters.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  [[nodiscard]] bool skip_text() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size() && text_[at_] == '"') return ++at_, true;
    }
    return false;
  }

  // False: it does not end, or cannot be gone on behind.
  bool value(FoundValue found, int depth) {
    skip(" \t\r\n");
    if (at_ >= text_.size() || depth > kDeepest) return false;
    found.bytes.begin = at_;
    const char first = text_[at_];
    if (first == '{' || first == '[') {
      found.kind = first == '{' ? ValueKind::dict : ValueKind::list;
      if (!members(first == '{', depth)) return false;
    } else if (first == '"') {
      found.kind = ValueKind::text;
      if (!skip_text()) return false;
    } else {
      const size_t end = std::min(text_.find_first_of(",:]} \t\r\n", at_), text_.size());
      const std::string_view word = text_.substr(at_, end - at_);
      if (word.empty()) return false;
      found.kind = first == 't' || first == 'f'                            ? ValueKind::flag
                   : first == 'n'                                          ? ValueKind::none
                   : word.find_first_of(".eENI") != std::string_view::npos ? ValueKind::real
                                                                           : ValueKind::integer;
      at_ = end;
    }
    found.bytes.end = at_;
    found_.values.push_back(std::move(found));
    return true;
  }

  bool members(bool are_pairs, int depth) {
    for (++at_;;) {
      skip(" \t\r\n,");
      if (at_ >= text_.size()) return false;
      if (text_[at_] == '}' || text_[at_] == ']') return ++at_, true;
      FoundValue member;
      if (are_pairs) {
        const size_t begin = at_;
        if (text_[at_] != '"' || !skip_text()) return false;
        member.key_bytes = {begin, at_};
        member.key = text_.substr(begin + 1, at_ - begin - 2);
        skip(" \t\r\n:");
      }
      if (!value(std::move(member), depth + 1)) return false;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  FoundValues found_;
};

}  // namespace

FoundValues find_json_values(std::string_view input) { return JsonWalk(input).walk(); }

}  // namespace gpustrata::tests
