#include "engine/simulate/script.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string>

namespace memstrata::simulate {

namespace {

struct Notation {
  std::string_view word;
  Command command;
  std::string_view arguments;  // i = ID, n = number, p = pool (two numbers); after / they may be left out
  std::string_view form;       // for error texts
};
constexpr std::array<Notation, 16> kNotation = {{
    {"m", Command::allocate, "iz/s", "m ID SIZE [STREAM]"},
    {"f", Command::free, "i", "f ID"},
    {"rs", Command::record_stream, "is", "rs ID STREAM"},
    {"done", Command::done, "s", "done STREAM"},
    {"empty", Command::empty, "/p", "empty [A B]"},
    {"conf", Command::conf, "t", "conf TEXT"},
    {"fraction", Command::fraction, "f", "fraction F"},
    {"snap", Command::snapshot, "", "snap"},
    {"begin", Command::begin, "p", "begin A B"},
    {"begins", Command::begin_stream, "ps", "begins A B STREAM"},
    {"end", Command::end, "p", "end A B"},
    {"release", Command::release, "p", "release A B"},
    {"nosplit", Command::no_split, "p", "nosplit A B"},
    {"useoom", Command::use_on_oom, "p", "useoom A B"},
    {"resetpeak", Command::reset_peak, "", "resetpeak"},
    {"resetacc", Command::reset_accumulated, "", "resetacc"},
}};

[[nodiscard]] bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

[[nodiscard]] std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the next word off the front.
[[nodiscard]] std::string_view take_word(std::string_view& rest) {
  rest = trimmed(rest);
  size_t length = 0;
  while (length < rest.size() && !is_space(rest[length])) ++length;
  const std::string_view word = rest.substr(0, length);
  rest.remove_prefix(length);
  return word;
}

[[nodiscard]] bool parse_whole(std::string_view word, int64_t& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return !word.empty() && error == std::errc() && end == word.data() + word.size() && value >= 0;
}

[[nodiscard]] bool parse_fraction(std::string_view word, double& value) {
  if (word.empty() || word.size() > 64 || word.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
    return false;
  const std::string text(word);
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

// False if the words do not fit the notation.
[[nodiscard]] bool parse_arguments(const Notation& notation, std::string_view rest, Step& step) {
  for (const char what : notation.arguments) {
    if (what == '/') {
      if (trimmed(rest).empty()) return true;
      continue;
    }
    if (what == 't') {  // the rest as it is; an empty text is a setting, too
      step.id = trimmed(rest);
      return true;
    }
    const std::string_view word = take_word(rest);
    switch (what) {
      case 'i':
        step.id = word;
        if (word.empty()) return false;
        break;
      case 'z':
        if (!parse_whole(word, step.size)) return false;
        break;
      case 's':
        if (!parse_whole(word, step.stream)) return false;
        break;
      case 'f':
        if (!parse_fraction(word, step.fraction)) return false;
        break;
      default:
        if (!parse_whole(word, step.pool.graph_id) || !parse_whole(take_word(rest), step.pool.user_id))
          return false;
    }
  }
  return trimmed(rest).empty();
}

[[nodiscard]] std::string shown(std::string_view text) {
  constexpr size_t kLongest = 80;
  return text.size() <= kLongest ? std::string(text) : std::string(text.substr(0, kLongest)) + "...";
}

}  // namespace

Result<std::vector<Step>> parse_script(std::string_view script) {
  std::vector<Step> steps;
  int64_t line = 1;
  for (size_t at = 0; at < script.size();) {
    size_t end = at;
    while (end < script.size() && script[end] != ';' && script[end] != '\n' && script[end] != '#') ++end;
    Step step;
    step.line = line;
    step.text = trimmed(script.substr(at, end - at));
    if (!step.text.empty()) {
      const auto offset = static_cast<int64_t>(step.text.data() - script.data());
      std::string_view rest = step.text;
      const std::string_view word = take_word(rest);
      const Notation* notation = nullptr;
      for (const Notation& known : kNotation) {
        if (known.word == word) notation = &known;
      }
      if (notation == nullptr)
        return fail(
            ErrorCode::wrong_usage, offset,
            "line {}: there is no step '{}'; known are m, f, rs, done, empty, conf, fraction, snap, begin, "
            "begins, end, release, nosplit, useoom, resetpeak, resetacc",
            line, shown(word));
      step.command = notation->command;
      if (!parse_arguments(*notation, rest, step))
        return fail(ErrorCode::wrong_usage, offset,
                    "line {}: '{}' should be: {} (sizes, streams and pools are whole numbers)", line,
                    shown(step.text), notation->form);
      steps.push_back(step);
    }
    if (end < script.size() && script[end] == '#') {
      while (end < script.size() && script[end] != '\n') ++end;
    }
    if (end < script.size() && script[end] == '\n') ++line;
    at = end + 1;
  }
  return steps;
}

}  // namespace memstrata::simulate
