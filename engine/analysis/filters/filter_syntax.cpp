#include "engine/analysis/filters/filter_syntax.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "engine/analysis/stacks/frame_pattern.h"
#include "engine/base/ascii.h"

namespace gpustrata::analysis {

namespace {

constexpr std::array<FilterWord, 15> kWords = {{
    {"size", FilterField::size, "size>1MiB", "requested bytes; also size:1MiB..4MiB"},
    {"stack", FilterField::stack, "stack:attention", "a function, file or line of its stack"},
    {"op", FilterField::op, "op:aten::mm", "an op of a profiler's trace around it, its whole name"},
    {"category", FilterField::category, "category:activation", "what it is for, by the rules of categories"},
    {"lifetime", FilterField::lifetime, "lifetime<1ms", "how long it lived; without a unit in events"},
    {"alive", FilterField::alive, "alive@peak", "in use at the peak, start, end or after an event"},
    {"stream", FilterField::stream, "stream:7", "number of the stream as the details show it"},
    {"pool", FilterField::pool, "pool:1,0", "pool as the details show it"},
    {"born", FilterField::born, "born>1000", "event of its allocation, or born:before"},
    {"freed", FilterField::freed, "freed:never", "event of its free, or freed:never"},
    {"address", FilterField::address, "address:7f06", "name or address"},
    {"call", FilterField::call, "call:/run/model.py:*:forward",
     "just this file:line:function in its stack, * = any"},
    {"who", FilterField::who, "who:/run/model.py:*:forward", "just this file:line:function asked for it"},
    {"metadata", FilterField::metadata, "metadata:step", "user metadata, annotations, compile context"},
    {"action", FilterField::action, "action:alloc",
     "what an event did: its action, or blocks, segments, markers"},
}};

[[nodiscard]] bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (ascii::lower(a[i]) != ascii::lower(b[i])) return false;
  }
  return true;
}

[[nodiscard]] bool is_letter(char c) { return ascii::lower(c) >= 'a' && ascii::lower(c) <= 'z'; }

struct Unit {
  std::string_view name;
  double factor;
};
constexpr double kKi = 1024;
constexpr std::array<Unit, 14> kSizeUnits = {{{"", 1},
                                              {"b", 1},
                                              {"k", kKi},
                                              {"kib", kKi},
                                              {"m", kKi* kKi},
                                              {"mib", kKi* kKi},
                                              {"g", kKi* kKi* kKi},
                                              {"gib", kKi* kKi* kKi},
                                              {"t", kKi* kKi* kKi* kKi},
                                              {"tib", kKi* kKi* kKi* kKi},
                                              {"kb", 1e3},
                                              {"mb", 1e6},
                                              {"gb", 1e9},
                                              {"tb", 1e12}}};
constexpr std::array<Unit, 6> kTimeUnits = {
    {{"us", 1}, {"µs", 1}, {"ms", 1e3}, {"s", 1e6}, {"min", 60e6}, {"h", 3600e6}}};

// Bounds of what a comparison with a real number means for integers.
[[nodiscard]] int64_t at_most(double value) {
  return value >= 9e18 ? INT64_MAX : static_cast<int64_t>(std::floor(value));
}
[[nodiscard]] int64_t at_least(double value) {
  return value >= 9e18 ? INT64_MAX : static_cast<int64_t>(std::ceil(value));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  [[nodiscard]] Result<FilterTree> parse() {
    if (text_.size() > kLongestFilter) {
      return fail(ErrorCode::limit_exceeded, static_cast<int64_t>(kLongestFilter),
                  "A filter has at most {} characters.", kLongestFilter);
    }
    skip_space();
    if (at_ == text_.size()) return std::move(tree_);
    auto root = any_of(0);
    if (!root) return tl::unexpected(root.error());
    if (at_ < text_.size()) return wrong(at_, "There is no ( for this ).");
    tree_.root = *root;
    return std::move(tree_);
  }

 private:
  [[nodiscard]] static tl::unexpected<Error> wrong(size_t at, std::string_view why) {
    return fail(ErrorCode::invalid_format, static_cast<int64_t>(at), "{}", why);
  }

  void skip_space() {
    while (at_ < text_.size() && ascii::is_space(text_[at_])) ++at_;
  }
  // A whole word here, in any case; moves behind it.
  [[nodiscard]] bool take_word(std::string_view word) {
    const size_t end = at_ + word.size();
    if (end > text_.size() || !same_word(text_.substr(at_, word.size()), word)) return false;
    if (end < text_.size() && !ascii::is_space(text_[end]) && text_[end] != '(' && text_[end] != ')')
      return false;
    at_ = end;
    skip_space();
    return true;
  }
  [[nodiscard]] int32_t add(FilterNode&& node) {
    tree_.nodes.push_back(std::move(node));
    return static_cast<int32_t>(tree_.nodes.size()) - 1;
  }
  [[nodiscard]] int32_t join(FilterNode::Kind kind, std::vector<int32_t>&& children) {
    if (children.size() == 1 && kind != FilterNode::Kind::none_of) return children[0];
    FilterNode node;
    node.kind = kind;
    node.children = std::move(children);
    return add(std::move(node));
  }

  // all_of { "or" all_of }
  [[nodiscard]] Result<int32_t> any_of(int32_t depth) {
    std::vector<int32_t> children;
    do {
      auto child = all_of(depth);
      if (!child) return child;
      children.push_back(*child);
    } while (take_word("or"));
    return join(FilterNode::Kind::any_of, std::move(children));
  }

  // one { one }
  [[nodiscard]] Result<int32_t> all_of(int32_t depth) {
    std::vector<int32_t> children;
    for (;;) {
      skip_space();
      if (at_ == text_.size() || text_[at_] == ')') break;
      const size_t before = at_;
      if (take_word("or")) {
        at_ = before;
        break;
      }
      if (take_word("and")) {
        if (!children.empty()) continue;
        at_ = before;
        break;
      }
      auto child = one(depth);
      if (!child) return child;
      children.push_back(*child);
    }
    if (children.empty()) return wrong(at_, "Here a term is missing, such as size>1MiB.");
    return join(FilterNode::Kind::all_of, std::move(children));
  }

  // ["not" | "-"] ( "(" any_of ")" | term )
  [[nodiscard]] Result<int32_t> one(int32_t depth) {
    bool negated = false;
    for (;;) {
      if (take_word("not")) {
        negated = !negated;
      } else if (at_ + 1 < text_.size() && text_[at_] == '-' && !ascii::is_space(text_[at_ + 1])) {
        negated = !negated;
        ++at_;
      } else {
        break;
      }
    }
    Result<int32_t> inner = wrong(at_, "Here a term is missing, such as size>1MiB.");
    if (at_ == text_.size() || text_[at_] == ')') return inner;
    if (text_[at_] == '(') {
      if (depth >= kDeepestFilter) return wrong(at_, "That is too many parentheses inside one another.");
      const size_t opened = at_++;
      inner = any_of(depth + 1);
      if (!inner) return inner;
      if (at_ == text_.size()) return wrong(opened, "This ( is not closed.");
      ++at_;  // any_of ends at ) or at the end
    } else {
      inner = term();
    }
    if (!inner || !negated) return inner;
    return join(FilterNode::Kind::none_of, {*inner});
  }

  [[nodiscard]] Result<int32_t> term() {
    if (++terms_ > kMostFilterTerms)
      return wrong(at_, fmt::format("A filter has at most {} terms.", kMostFilterTerms));
    const size_t start = at_;
    size_t end = at_;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    const bool has_sign =
        end > start && end < text_.size() && std::string_view(":=<>@").find(text_[end]) != std::string::npos;
    FilterNode node;
    if (!has_sign) {
      auto text = word();
      if (!text) return tl::unexpected(text.error());
      node.text = std::move(*text);
      return add(std::move(node));
    }
    const std::string_view name = text_.substr(start, end - start);
    const FilterWord* known = find_word(name);
    if (known == nullptr) {
      // C++ names have colons of their own: std::vector is a text.
      if (text_.substr(end).starts_with("::")) {
        auto text = word();
        if (!text) return tl::unexpected(text.error());
        node.text = std::move(*text);
        return add(std::move(node));
      }
      return wrong(start, fmt::format("There is no field \"{}\". There are {}.", name, names()));
    }
    node.field = known->field;
    at_ = end;
    const size_t sign_at = at_;
    std::string sign(1, text_[at_++]);
    if (at_ < text_.size() && text_[at_] == '=' && (sign == ">" || sign == "<")) sign += text_[at_++];
    if ((sign == "@") != (node.field == FilterField::alive))
      return wrong(sign_at, node.field == FilterField::alive
                                ? "Write alive@peak, alive@start, alive@end or alive@EVENT."
                                : fmt::format("@ belongs to alive; write {}.", known->example));
    const size_t value_at = at_;
    auto value = word();
    if (!value) return tl::unexpected(value.error());
    if (value->empty())
      return wrong(value_at, fmt::format("Here a value is missing, such as in {}.", known->example));
    const bool equal = sign == ":" || sign == "=";
    Status taken;
    switch (node.field) {
      case FilterField::alive:
        taken = take_alive(node, *value, value_at);
        break;
      case FilterField::stream:
        taken = take_stream(node, *value, value_at);
        break;
      case FilterField::pool:
        taken = take_pool(node, *value, value_at);
        break;
      case FilterField::call:
      case FilterField::who:
        if (!parse_frame_pattern(*value))
          return wrong(value_at, fmt::format("After {}: come file:line:function, each of which may be *.",
                                             known->name));
        node.text = std::move(*value);
        break;
      case FilterField::size:
      case FilterField::lifetime:
      case FilterField::born:
      case FilterField::freed:
        return range(std::move(node), *known, sign, *value, value_at);
      case FilterField::category:
      case FilterField::action:
        node.at = static_cast<int64_t>(value_at);
        node.text = std::move(*value);
        break;
      default:
        node.text = std::move(*value);
        break;
    }
    if (!taken) return tl::unexpected(taken.error());
    if (!equal && node.field != FilterField::alive)
      return wrong(sign_at, fmt::format("{} cannot be compared; write {}.", known->name, known->example));
    return add(std::move(node));
  }

  // To the next space or parenthesis, or what stands in quotes. A parenthesis inside the word stays: f(x).
  [[nodiscard]] Result<std::string> word() {
    std::string found;
    if (at_ < text_.size() && text_[at_] == '"') {
      const size_t opened = at_++;
      while (at_ < text_.size() && text_[at_] != '"') {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        found += text_[at_++];
      }
      if (at_ == text_.size()) return wrong(opened, "This \" is not closed.");
      ++at_;
      return found;
    }
    int32_t open = 0;
    for (; at_ < text_.size() && !ascii::is_space(text_[at_]); ++at_) {
      if (text_[at_] == ')' && open-- == 0) break;
      if (text_[at_] == '(') ++open;
      found += text_[at_];
    }
    return found;
  }

  [[nodiscard]] static Status take_alive(FilterNode& node, std::string_view value, size_t at) {
    if (same_word(value, "peak")) {
      node.low = kAliveAtPeak;
    } else if (same_word(value, "start")) {
      node.low = kAliveAtStart;
    } else if (same_word(value, "end")) {
      node.low = kAliveAtEnd;
    } else if (!whole_number(value, node.low)) {
      return wrong(at, "After alive@ comes peak, start, end or the number of an event.");
    }
    return {};
  }

  [[nodiscard]] static Status take_stream(FilterNode& node, std::string_view value, size_t at) {
    if (value.starts_with("0x") || value.starts_with("0X")) {
      uint64_t handle = 0;
      const char* end = value.data() + value.size();
      const auto read = std::from_chars(value.data() + 2, end, handle, 16);
      if (read.ec != std::errc() || read.ptr != end)
        return wrong(at, "This is not the handle of a stream: 0x and hexadecimal digits.");
      node.text = "0x";
      node.low = static_cast<int64_t>(handle);
      return {};
    }
    if (!whole_number(value, node.low)) return wrong(at, "After stream: comes a number, such as stream:7.");
    return {};
  }

  [[nodiscard]] static Status take_pool(FilterNode& node, std::string_view value, size_t at) {
    if (value.size() > 2 && value.front() == '(' && value.back() == ')')
      value = value.substr(1, value.size() - 2);
    const size_t comma = value.find(',');
    const auto number = [](std::string_view text, int64_t& id) {  // of 64 bits, unsigned as it is shown
      while (text.starts_with(' ')) text.remove_prefix(1);
      uint64_t found = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), found);
      id = static_cast<int64_t>(found);
      return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
    };
    if (comma == std::string_view::npos || !number(value.substr(0, comma), node.low) ||
        !number(value.substr(comma + 1), node.high)) {
      return wrong(at, "After pool: come two numbers, such as pool:1,0.");
    }
    return {};
  }

  [[nodiscard]] static bool whole_number(std::string_view text, int64_t& number) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && text[0] != '-' && read.ec == std::errc() && read.ptr == text.data() + text.size();
  }

  // A number with a unit of the field. `in_time` says which kind of lifetime it is.
  [[nodiscard]] static Result<double> quantity(FilterField field, std::string_view text, size_t at,
                                               bool& in_time) {
    size_t digits = 0;
    while (digits < text.size() && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '.'))
      ++digits;
    double value = 0;
    bool well = digits > 0;
    {
      // By hand: em++ 3.1.6 has no from_chars for doubles. Fifteen digits are exact enough for any size.
      double scale = 0;
      for (size_t i = 0; i < digits; ++i) {
        if (text[i] == '.') {
          well = well && scale == 0;
          scale = 1;
          continue;
        }
        value = value * 10 + (text[i] - '0');
        scale *= 10;
      }
      if (scale > 1) value /= scale;
      well = well && digits < 30 && text.substr(0, digits) != ".";
    }
    const std::string_view unit = text.substr(digits);
    if (!well) return wrong(at, "Here a number is missing.");
    const auto find = [&](auto& units) -> const Unit* {
      for (const Unit& one : units) {
        if (same_word(one.name, unit)) return &one;
      }
      return nullptr;
    };
    const Unit* found = nullptr;
    if (field == FilterField::size) {
      found = find(kSizeUnits);
      if (found == nullptr)
        return wrong(
            at + digits,
            fmt::format("\"{}\" is no unit of sizes; there are B, KiB, MiB, GiB, TiB, kB, MB.", unit));
    } else if (field == FilterField::lifetime && !unit.empty() && !same_word(unit, "events")) {
      found = find(kTimeUnits);
      if (found == nullptr)
        return wrong(at + digits,
                     fmt::format("\"{}\" is no unit of time; there are us, ms, s, min, h.", unit));
      in_time = true;
    } else if (!unit.empty() && !same_word(unit, "events")) {
      return wrong(at + digits, "This is counted in events, without a unit.");
    }
    return found == nullptr ? value : value * found->factor;
  }

  [[nodiscard]] Result<int32_t> range(FilterNode&& node, const FilterWord& known, std::string_view sign,
                                      std::string_view value, size_t at) {
    const bool equal = sign == ":" || sign == "=";
    if (equal && node.field == FilterField::freed && same_word(value, "never")) {
      node.low = node.high = kNever;
      return add(std::move(node));
    }
    if (equal && node.field == FilterField::born && same_word(value, "before")) {
      node.low = node.high = kBefore;
      return add(std::move(node));
    }
    const size_t dots = value.find("..");
    if (dots != std::string_view::npos) {
      if (!equal) return wrong(at, fmt::format("A range stands after a colon: {}:{}.", known.name, value));
      bool low_in_time = false;
      auto low = quantity(node.field, value.substr(0, dots), at, low_in_time);
      if (!low) return tl::unexpected(low.error());
      auto high = quantity(node.field, value.substr(dots + 2), at + dots + 2, node.in_time);
      if (!high) return tl::unexpected(high.error());
      if (low_in_time != node.in_time && *low != 0)
        return wrong(at, "Both ends of the range need a unit of time, or none of them.");
      if (*low > *high) return wrong(at, "The range ends before it begins.");
      node.low = at_least(*low);
      node.high = at_most(*high);
      return add(std::move(node));
    }
    auto number = quantity(node.field, value, at, node.in_time);
    if (!number) return tl::unexpected(number.error());
    // born:before is below every event, freed:never above: comparisons leave both out.
    node.low = 0;
    node.high = node.field == FilterField::freed ? kNever - 1 : INT64_MAX;
    if (sign == ">") {
      node.low = at_most(*number) + (at_most(*number) < INT64_MAX ? 1 : 0);
    } else if (sign == ">=") {
      node.low = at_least(*number);
    } else if (sign == "<") {
      node.high = at_least(*number) - 1;
    } else if (sign == "<=") {
      node.high = at_most(*number);
    } else {
      node.low = at_least(*number);
      node.high = at_most(*number);
    }
    return add(std::move(node));
  }

  [[nodiscard]] static const FilterWord* find_word(std::string_view name) {
    if (same_word(name, "addr")) name = "address";
    if (same_word(name, "frame")) name = "stack";
    if (same_word(name, "meta")) name = "metadata";
    for (const FilterWord& word : kWords) {
      if (same_word(word.name, name)) return &word;
    }
    return nullptr;
  }

  [[nodiscard]] static std::string names() {
    std::string all;
    for (const FilterWord& word : kWords) {
      all += all.empty() ? "" : ", ";
      all += word.name;
    }
    return all;
  }

  std::string_view text_;
  size_t at_ = 0;
  int32_t terms_ = 0;
  FilterTree tree_;
};

}  // namespace

Result<FilterTree> parse_filter(std::string_view text) { return Parser(text).parse(); }

std::span<const FilterWord> filter_words() { return kWords; }

}  // namespace gpustrata::analysis
