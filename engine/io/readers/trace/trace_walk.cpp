#include "engine/io/readers/trace/trace_walk.h"

#include <algorithm>
#include <array>

#include "engine/base/ascii.h"
#include "engine/io/readers/trace/trace_launch.h"
#include "engine/io/readers/trace/trace_text.h"

namespace gpustrata::io::traces {

using model::Diag;

namespace {

// The last letter before text[at] that is no space, '\0' = none; `at` becomes its place.
[[nodiscard]] char before(std::string_view text, size_t& at) {
  while (at > 0) {
    if (!ascii::is_space(text[--at])) return text[at];
  }
  return '\0';
}

// The first letter from text[at] on that is no space, '\0' = none.
[[nodiscard]] char behind(std::string_view text, size_t at) {
  while (at < text.size() && ascii::is_space(text[at])) ++at;
  return at < text.size() ? text[at] : '\0';
}

// A key that events have: "ph".
[[nodiscard]] bool is_key_of_event(std::string_view text) {
  constexpr std::array<std::string_view, 10> kKeys = {"ph", "cat", "name", "pid", "tid",
                                                      "ts", "dur", "args", "id",  "s"};
  if (!text.starts_with('"')) return false;
  const std::string_view key = text.substr(1, std::min(text.find('"', 1), text.size()) - 1);
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

// An event begins at text[at], which is a brace: behind "}," comes any key, behind a comma one that events have.
[[nodiscard]] bool begins_event(std::string_view text, size_t at) {
  size_t left = at;
  const char c = before(text, left);
  if (c != ',' && c != '[') return false;
  size_t key = at + 1;
  while (key < text.size() && ascii::is_space(text[key])) ++key;
  if (key == text.size() || text[key] != '"') return false;
  return c == '[' || before(text, left) == '}' || is_key_of_event(text.substr(key));
}

// The list of events ends at text[at], which is a bracket.
[[nodiscard]] bool ends_list(std::string_view text, size_t at) {
  size_t left = at;
  const char right = behind(text, at + 1);
  return before(text, left) == '}' && (right == ',' || right == '}' || right == '\0');
}

constexpr size_t kLookedBehind = 64;  // white space around a brace
// Text that is looked at in vain: so much, and so many times the file.
constexpr int64_t kFreeFailedBytes = int64_t{64} << 20;
constexpr int64_t kFailedPerByte = 4;

}  // namespace

size_t Walk::walk(std::string_view text, int64_t offset, bool last) {
  text_ = text;
  offset_ = offset;
  last_ = last;
  at_ = kept_;
  kept_ = 0;
  while (halt_ == Halt::none && step()) {
  }
  if (last && halt_ == Halt::none) {
    (void)halt_at(Halt::ended, state_ == At::start    ? "the text ends before it begins"
                               : state_ == At::events ? "the text ends before the list of events does"
                                                      : "the text ends inside of a value");
  }
  if (halt_ == Halt::none && (state_ == At::lost_event || state_ == At::lost_member)) {
    kept_ = std::min(at_, kLookedBehind);
  }
  return at_ - kept_;
}

bool Walk::halt_at(Halt halt, std::string_view text) {
  halt_ = halt;
  halt_offset_ = place();
  halt_text_ = text;
  return false;
}

bool Walk::step() {
  switch (state_) {
    case At::lost_event:
      return find_next_event();
    case At::lost_member:
      return find_known_member();
    case At::skipping:
      return skip_value();
    default:
      break;
  }
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == ',' && state_ != At::start) {
      ++commas_;
    } else if (!ascii::is_space(text_[at_])) {
      break;
    }
  }
  if (at_ == text_.size()) return false;
  // One stands between two things, none before an end.
  const bool is_end = text_[at_] == ']' || text_[at_] == '}';
  const int64_t wanted = separates_ && !is_end ? 1 : 0;
  if (commas_ > wanted) diagnostics_.add_many(Diag::extra_commas, commas_ - wanted, place());
  commas_ = 0;
  separates_ = false;
  switch (state_) {
    case At::start:
      return start();
    case At::members:
      return member();
    default:
      return event();
  }
}

bool Walk::start() {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text_[at_] == kMark[0]) {
    if (text_.size() - at_ < kMark.size()) return false;
    if (!text_.substr(at_).starts_with(kMark)) return halt_at(Halt::damaged, "no JSON begins here");
    at_ += kMark.size();
    return true;
  }
  is_list_ = text_[at_] == '[';
  if (!is_list_ && text_[at_] != '{') return halt_at(Halt::damaged, "no JSON begins here");
  ++at_;
  found_events_ = is_list_;
  state_ = is_list_ ? At::events : At::members;
  return true;
}

bool Walk::skip_value() {
  bool ended = false;
  at_ += skipped_.scan(text_.substr(at_), ended);
  if (ended) state_ = At::members;
  separates_ = ended;
  return ended;
}

bool Walk::member() {
  if (text_[at_] == '}') {
    ++at_;
    return halt_at(Halt::complete, {});
  }
  Text text(text_, at_);
  std::string_view key;
  Value value;
  size_t value_at = at_;
  bool whole = text.key(key) && text.next() != '\0';
  if (whole) {
    value_at = text.place();
    if (key == "traceEvents" && text_[value_at] == '[') {
      at_ = value_at + 1;
      found_events_ = true;
      state_ = At::events;
      return true;
    }
    whole = text.value(value);
  }
  if (!whole) {
    if (text.ended() && (last_ || !is_too_long())) return false;
    if (text.ended() && value_at > at_) {  // a long value that is of no use
      at_ = value_at;
      skipped_ = {};
      state_ = At::skipping;
      return true;
    }
    diagnostics_.add(Diag::invalid_json, place());
    ++at_;
    state_ = At::lost_member;
    return true;
  }
  int64_t base = 0;
  if (key == "baseTimeNanoseconds" && value.kind == Value::Kind::number) {
    if (integer_of(value.text, 0, base) == Number::fits) {
      clock_.base_ns = base;
    } else {
      diagnostics_.add(Diag::integer_out_of_range, offset_ + static_cast<int64_t>(value_at));
    }
  }
  if (key == "gpustrata_damaged" && value.text == "true") diagnostics_.add(Diag::of_damaged, -1, {});
  if (key == "distributedInfo" && value.kind == Value::Kind::container) launch_ = read_launch(value.text);
  at_ = text.place();
  separates_ = true;
  return true;
}

bool Walk::end_list() {
  ++at_;
  separates_ = true;
  if (is_list_) return halt_at(Halt::complete, {});
  state_ = At::members;
  return true;
}

bool Walk::take(const Event& event, size_t end) {
  if (!rows_.add(event, place())) return halt_at(Halt::out_of_budget, {});
  at_ = end;
  separates_ = true;
  return true;
}

bool Walk::event() {
  if (text_[at_] == ']') return end_list();
  Event event;
  size_t end = at_;
  switch (parse_event(text_, end, Text::How::strict, event)) {
    case Parsed::whole:
      return take(event, end);
    case Parsed::ended:
      return (last_ || is_too_long()) && repair_event(end - at_, true);
    case Parsed::wrong:
      break;
  }
  return repair_event(end - at_, false);
}

bool Walk::repair_event(size_t tried, bool is_cut) {
  Event event;
  size_t end = at_;
  const Parsed parsed = parse_event(text_, end, Text::How::lenient, event);
  // What ends a quoted text may come with the next bytes.
  const bool is_certain =
      parsed == Parsed::wrong || (parsed == Parsed::whole && end + kLookedBehind < text_.size());
  if (!is_certain && !last_ && !is_too_long()) return false;
  const bool is_end_of_file = is_cut && last_ && parsed != Parsed::whole;
  if (!is_end_of_file) diagnostics_.add(Diag::invalid_json, place());
  if (parsed == Parsed::whole) return take(event, end);
  // Text that fails again and again is not looked at more than a few times.
  tried += end - at_;
  failed_bytes_ += static_cast<int64_t>(tried);
  const bool is_hopeless = failed_bytes_ > kFreeFailedBytes + kFailedPerByte * place();
  at_ += is_hopeless ? std::max<size_t>(end - at_, 1) : 1;
  state_ = At::lost_event;
  return true;
}

// Behind something that cannot be understood: on to where an event begins, or to the end of the list.
bool Walk::find_next_event() {
  for (;; ++at_) {
    at_ = std::min(text_.find_first_of("{]", at_), text_.size());
    if (at_ == text_.size() || (at_ + kLookedBehind > text_.size() && !last_)) return false;
    if (text_[at_] == '{' ? begins_event(text_, at_) : ends_list(text_, at_)) break;
  }
  state_ = At::events;
  return true;
}

// The same among what stands around the events.
bool Walk::find_known_member() {
  constexpr std::string_view kEvents = "\"traceEvents\"", kBase = "\"baseTimeNanoseconds\"";
  const size_t found = std::min(text_.find(kEvents, at_), text_.find(kBase, at_));
  if (found == std::string_view::npos) {
    // The key may be cut in two.
    at_ = last_ ? text_.size() : std::max(at_, text_.size() - std::min(text_.size(), kBase.size()));
    return false;
  }
  at_ = found;
  state_ = At::members;
  return true;
}

}  // namespace gpustrata::io::traces
