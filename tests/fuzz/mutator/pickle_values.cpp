#include "tests/fuzz/mutator/pickle_values.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace gpustrata::tests {

namespace {

// What an opcode has behind it: so many bytes, a length of so many bytes and what it says, or lines.
struct Operand {
  enum class Form : uint8_t { bytes, counted, lines } form = Form::bytes;
  size_t size = 0;
};

[[nodiscard]] Operand operand_of(unsigned char opcode) {
  using Form = Operand::Form;
  switch (opcode) {
    case 'K':
    case 'h':
    case 'q':
    case 0x80:
    case 0x82:
      return {Form::bytes, 1};
    case 'M':
    case 0x83:
      return {Form::bytes, 2};
    case 'J':
    case 'j':
    case 'r':
    case 0x84:
      return {Form::bytes, 4};
    case 'G':
    case 0x95:
      return {Form::bytes, 8};
    case 'U':
    case 'C':
    case 0x8A:
    case 0x8C:
      return {Form::counted, 1};
    case 'T':
    case 'X':
    case 'B':
    case 0x8B:
      return {Form::counted, 4};
    case 0x8D:
    case 0x8E:
    case 0x96:
      return {Form::counted, 8};
    case 'F':
    case 'I':
    case 'L':
    case 'P':
    case 'S':
    case 'V':
    case 'g':
    case 'p':
      return {Form::lines, 1};
    case 'c':
    case 'i':
      return {Form::lines, 2};
    default:
      return {};
  }
}

struct Entry {
  size_t begin = 0;
  ValueKind kind = ValueKind::other;
  std::string text;
};
struct Mark {
  size_t depth, begin;
};

class PickleWalk {
 public:
  PickleWalk(std::string_view input, size_t first) : input_(input), at_(first) {
    found_.encoding = Encoding::pickle;
    found_.document = {first, input.size()};
  }

  FoundValues walk() {
    while (at_ < input_.size() && step()) {
    }
    return std::move(found_);
  }

 private:
  // False: the end, or no pickle from here on.
  bool step() {
    begin_ = at_;
    const auto opcode = static_cast<unsigned char>(input_[at_++]);
    if (!take_operand(operand_of(opcode))) return false;
    switch (opcode) {
      case 0x80:
      case 0x95:
      case 0x98:
        return true;
      case '.':
        if (!stack_.empty()) add(stack_.back(), begin_, nullptr, {});
        return false;
      case '(':
        marks_.push_back({stack_.size(), begin_});
        return true;
      case 'N':
        return push(ValueKind::none);
      case 0x88:
      case 0x89:
        return push(ValueKind::flag);
      case 'I':
        return push(operand_ == "00" || operand_ == "01" ? ValueKind::flag : ValueKind::integer);
      case 'J':
      case 'K':
      case 'M':
      case 'L':
      case 0x8A:
      case 0x8B:
        return push(ValueKind::integer);
      case 'F':
      case 'G':
        return push(ValueKind::real);
      case 'S':
        return push(ValueKind::text,
                    operand_.size() < 2 ? operand_ : operand_.substr(1, operand_.size() - 2));
      case 'V':
      case 'U':
      case 'T':
      case 'X':
      case 0x8C:
      case 0x8D:
        return push(ValueKind::text, operand_);
      case ']':
        return push(ValueKind::list);
      case '}':
        return push(ValueKind::dict);
      case ')':
        return push(ValueKind::tuple);
      case 'p':
      case 'q':
      case 'r':
      case 0x94:
        return put(opcode);
      case 'g':
      case 'h':
      case 'j':
        return get(opcode);
      case 0x85:
      case 0x86:
      case 0x87:
        return join(opcode - 0x84U, ValueKind::tuple);
      case 't':
        return join_to_mark(ValueKind::tuple);
      case 'l':
        return join_to_mark(ValueKind::list);
      case 'd':
        return join_to_mark(ValueKind::dict);
      case 'i':
      case 'o':
      case 0x91:
        return join_to_mark(ValueKind::other);
      case 'R':
      case 0x81:
      case 0x93:
        return join(2, ValueKind::other);
      case 0x92:
        return join(3, ValueKind::other);
      case 'a':
        return take(1, false);
      case 's':
        return take(2, true);
      case 'e':
      case 0x90:
        return take_to_mark(false);
      case 'u':
        return take_to_mark(true);
      case 'b':
      case '0':
        return drop(1);
      case '1': {
        if (marks_.empty()) return false;
        const size_t depth = marks_.back().depth;
        marks_.pop_back();
        return stack_.size() >= depth && drop(stack_.size() - depth);
      }
      default:
        return push(ValueKind::other);  // classes, bytes, persistent ids
    }
  }

  [[nodiscard]] uint64_t little_endian(size_t at, size_t count) const {
    uint64_t number = 0;
    for (size_t i = std::min<size_t>(count, 8); i-- > 0;)
      number = number << 8 | static_cast<unsigned char>(input_[at + i]);
    return number;
  }

  bool take_operand(Operand operand) {
    const size_t left = input_.size() - at_;
    if (operand.form == Operand::Form::lines) {
      size_t end = at_;
      for (size_t i = 0; i < operand.size; ++i) {
        const size_t line = input_.find('\n', end);
        if (line == std::string_view::npos) return false;
        if (i == 0) operand_ = input_.substr(at_, line - at_);
        end = line + 1;
      }
      at_ = end;
      return true;
    }
    if (operand.size > left) return false;
    size_t size = operand.size;
    if (operand.form == Operand::Form::counted) {
      const uint64_t counted = little_endian(at_, operand.size);
      if (counted > left - operand.size) return false;
      at_ += operand.size;
      size = static_cast<size_t>(counted);
    }
    operand_ = input_.substr(at_, size);
    at_ += size;
    return true;
  }

  bool push(ValueKind kind, std::string_view text = {}) {
    stack_.push_back({begin_, kind, std::string(text)});
    return true;
  }

  [[nodiscard]] uint64_t slot(unsigned char opcode) const {
    if (opcode == 0x94) return memo_.size();
    if (opcode != 'p' && opcode != 'g') return little_endian(begin_ + 1, at_ - begin_ - 1);
    uint64_t number = 0;
    (void)std::from_chars(operand_.data(), operand_.data() + operand_.size(), number);
    return number;
  }
  bool put(unsigned char opcode) {
    if (stack_.empty()) return false;
    memo_[slot(opcode)] = stack_.back();
    found_.memo.push_back({{begin_, at_}, true, false, {}});
    return true;
  }
  bool get(unsigned char opcode) {
    const auto known = memo_.find(slot(opcode));
    if (known == memo_.end()) return false;
    const Entry& one = known->second;
    found_.memo.push_back({{begin_, at_}, false, one.kind == ValueKind::text, one.text});
    return push(one.kind, one.text);
  }

  void add(const Entry& entry, size_t end, const Entry* key, Span key_bytes) {
    found_.values.push_back(
        {{entry.begin, end}, entry.kind, key == nullptr ? std::string() : key->text, key_bytes});
  }
  // The values from `first` on: where one ends the next one begins, the last one ends here.
  void add_from(size_t first, bool are_pairs) {
    const auto end_of = [&](size_t i) { return i + 1 < stack_.size() ? stack_[i + 1].begin : begin_; };
    for (size_t i = first; i < stack_.size(); ++i) {
      if (!are_pairs) {
        add(stack_[i], end_of(i), nullptr, {});
      } else if (i + 1 < stack_.size()) {
        add(stack_[i + 1], end_of(i + 1), &stack_[i], {stack_[i].begin, end_of(i)});
        ++i;
      }
    }
  }

  bool drop(size_t count) {
    if (count > stack_.size()) return false;
    stack_.resize(stack_.size() - count);
    return true;
  }
  bool take(size_t count, bool are_pairs) {
    if (count > stack_.size()) return false;
    add_from(stack_.size() - count, are_pairs);
    return drop(count);
  }
  bool take_to_mark(bool are_pairs) {
    if (marks_.empty() || marks_.back().depth > stack_.size()) return false;
    const size_t count = stack_.size() - marks_.back().depth;
    marks_.pop_back();
    return take(count, are_pairs);
  }
  bool join(size_t count, ValueKind kind) {
    if (count > stack_.size()) return false;
    const size_t begin = stack_[stack_.size() - count].begin;
    if (!take(count, false)) return false;
    stack_.push_back({begin, kind, {}});
    return true;
  }
  bool join_to_mark(ValueKind kind) {
    if (marks_.empty()) return false;
    const size_t begin = marks_.back().begin;
    if (!take_to_mark(kind == ValueKind::dict)) return false;
    stack_.push_back({begin, kind, {}});
    return true;
  }

  std::string_view input_, operand_;
  size_t at_, begin_ = 0;
  FoundValues found_;
  std::vector<Entry> stack_;
  std::vector<Mark> marks_;
  std::map<uint64_t, Entry> memo_;
};

}  // namespace

FoundValues find_pickle_values(std::string_view input, size_t first) {
  return PickleWalk(input, first).walk();
}

}  // namespace gpustrata::tests
