#include "engine/simulate/script.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>

#include "engine/alloc/config.h"
#include "engine/base/string_pool.h"

namespace gpustrata::simulate {

namespace {

struct Notation {
  std::string_view word;
  Request request;
  std::string_view arguments;  // i = ID, n = number, p = pool (two numbers); after / they may be left out
  std::string_view form;       // for error texts
};
constexpr std::array<Notation, 21> kNotation = {{
    {"m", Request::allocate, "iz/s", "m ID SIZE [STREAM]"},
    {"f", Request::free, "i", "f ID"},
    {"rs", Request::record_stream, "is", "rs ID STREAM"},
    {"done", Request::finish_stream, "s", "done STREAM"},
    {"empty", Request::empty_cache, "/p", "empty [A B]"},
    {"conf", Request::settings, "t", "conf TEXT"},
    {"fraction", Request::memory_fraction, "f", "fraction F"},
    {"snap", Request::snapshot, "", "snap"},
    {"begin", Request::begin_pool, "p", "begin A B"},
    {"begins", Request::begin_pool_of_stream, "ps", "begins A B STREAM"},
    {"end", Request::end_pool, "p", "end A B"},
    {"release", Request::release_pool, "p", "release A B"},
    {"nosplit", Request::no_split, "p", "nosplit A B"},
    {"useoom", Request::use_on_oom, "p", "useoom A B"},
    {"nouseoom", Request::no_use_on_oom, "p", "nouseoom A B"},
    {"resetpeak", Request::reset_peak, "", "resetpeak"},
    {"resetacc", Request::reset_accumulated, "", "resetacc"},
    {"bycapture", Request::defer_by_capture, "", "bycapture"},
    {"capture", Request::begin_capture, "", "capture"},
    {"endcapture", Request::end_capture, "", "endcapture"},
    {"order", Request::free_order, "i", "order address|block_number|segment_age"},
}};

// One step, before its names are known.
struct Step {
  std::string_view text;  // as written, without space around it
  std::string_view id;    // of the block; settings: their text
  int64_t size = 0;
  int64_t stream = 0;
  double fraction = 0;
  trace::PoolKey pool;
};

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

class Reader {
 public:
  Reader(std::string_view text, model::Recording& recording, std::string_view file) : recording_(recording) {
    script_.text = text;
    if (!file.empty()) file_ = recording.strings.intern(file);
  }

  [[nodiscard]] Result<Script> read() {
    const std::string_view text = script_.text;
    int32_t line = 1;
    for (size_t at = 0; at < text.size();) {
      size_t end = at;
      while (end < text.size() && text[end] != ';' && text[end] != '\n' && text[end] != '#') ++end;
      Step step;
      step.text = trimmed(text.substr(at, end - at));
      if (!step.text.empty()) {
        if (Status added = add(step, line); !added) return tl::unexpected(added.error());
      }
      if (end < text.size() && text[end] == '#') {
        while (end < text.size() && text[end] != '\n') ++end;
      }
      if (end < text.size() && text[end] == '\n' && line < std::numeric_limits<int32_t>::max()) ++line;
      at = end + 1;
    }
    return std::move(script_);
  }

 private:
  [[nodiscard]] Status add(Step& step, int32_t line) {
    const auto offset = static_cast<int64_t>(step.text.data() - script_.text.data());
    std::string_view rest = step.text;
    const std::string_view word = take_word(rest);
    const auto* notation = std::find_if(kNotation.begin(), kNotation.end(),
                                        [&](const Notation& known) { return known.word == word; });
    if (notation == kNotation.end())
      return fail(
          ErrorCode::wrong_usage, offset,
          "line {}: there is no step '{}'; known are m, f, rs, done, empty, conf, fraction, snap, begin, "
          "begins, end, release, nosplit, useoom, nouseoom, resetpeak, resetacc, bycapture, capture, endcapture, order",
          line, shown(word));
    if (!parse_arguments(*notation, rest, step))
      return fail(ErrorCode::wrong_usage, offset,
                  "line {}: '{}' should be: {} (sizes, streams and pools are whole numbers)", line,
                  shown(step.text), notation->form);
    RequestLog::Row row;
    row.request = notation->request;
    row.size = step.size;
    row.stream = step.stream;
    if (!origin(step, line, row.stack)) return no_memory(line, offset);
    switch (row.request) {
      case Request::allocate:
      case Request::free:
      case Request::record_stream: {
        const StringId name = names_.intern(step.id);
        if (name.is_none() || (name.index() == live_.size() && !live_.push_back(-1)))
          return no_memory(line, offset);
        int32_t& live = live_[name.index()];  // row of the allocate
        if (row.request == Request::allocate) {
          if (live >= 0)
            return fail(ErrorCode::wrong_usage, offset,
                        "line {}: '{}' is still allocated: free it or take another name", line,
                        step.id.substr(0, 80));
          live = static_cast<int32_t>(script_.requests.size_rows());
          break;
        }
        if (live < 0)
          return fail(ErrorCode::wrong_usage, offset, "line {}: '{}' is not allocated", line,
                      step.id.substr(0, 80));
        row.subject = live;
        if (row.request == Request::free) live = -1;
        break;
      }
      case Request::free_order:
        if (!alloc::free_order_of(step.id))
          return fail(ErrorCode::wrong_usage, offset, "line {}: '{}' should be: {}", line, shown(step.text),
                      notation->form);
        [[fallthrough]];
      case Request::settings:
        row.text = recording_.strings.intern(step.id);
        if (row.text.is_none()) return no_memory(line, offset);
        break;
      case Request::memory_fraction:
        row.subject = static_cast<int32_t>(script_.requests.fractions.size());
        if (!script_.requests.fractions.push_back(step.fraction)) return no_memory(line, offset);
        break;
      default:
        if (notation->arguments.find('p') == std::string_view::npos) break;
        if (row.request == Request::empty_cache && step.pool == trace::PoolKey()) break;  // everything
        row.subject = static_cast<int32_t>(script_.requests.pools.size());
        if (!script_.requests.pools.push_back(step.pool)) return no_memory(line, offset);
    }
    if (!script_.requests.append(row) ||
        !script_.places.push_back(
            {offset, static_cast<int32_t>(std::min<size_t>(step.text.size(), INT32_MAX)), line}))
      return no_memory(line, offset);
    return {};
  }

  // The step as the only frame of a stack.
  [[nodiscard]] bool origin(const Step& step, int32_t line, StackId& stack) {
    constexpr size_t kLongestName = 200;
    if (file_.is_none()) return true;
    const StringId name = recording_.strings.intern(step.text.substr(0, kLongestName));
    if (name.is_none()) return false;
    const FrameId frame = recording_.frames.intern({name, file_, line});
    if (frame.is_none()) return false;
    stack = recording_.stacks.intern({&frame, 1});
    return !stack.is_none();
  }

  [[nodiscard]] Status no_memory(int32_t line, int64_t offset) const {
    return fail(ErrorCode::limit_exceeded, offset,
                "line {}: no memory for more steps: {} bytes are allowed, {} needed", line,
                recording_.budget.limit(), recording_.budget.needed());
  }

  model::Recording& recording_;
  Script script_{recording_.budget};
  StringPool names_{recording_.budget};      // of blocks
  Column<int32_t> live_{recording_.budget};  // by name: row of the allocate, -1 = freed
  StringId file_;
};

}  // namespace

Result<Script> read_script(std::string_view text, model::Recording& recording, std::string_view file) {
  return Reader(text, recording, file).read();
}

}  // namespace gpustrata::simulate
