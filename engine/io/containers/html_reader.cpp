#include "engine/io/containers/html_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/io/sniff.h"

namespace gpustrata::io {

namespace {

constexpr size_t kRecentBytes = 512;

// RFC 4648 section 4; -1 = no letter.
constexpr std::array<int8_t, 256> kValues = [] {
  std::array<int8_t, 256> values{};
  for (int8_t& value : values) value = -1;
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < kLetters.size(); ++i)
    values[static_cast<uint8_t>(kLetters[i])] = static_cast<int8_t>(i);
  return values;
}();
[[nodiscard]] int value_of(char c) { return kValues[static_cast<uint8_t>(c)]; }

// The text after the last `"name":`, quoted either way; empty if there is none.
[[nodiscard]] std::string last_name(std::string_view text) {
  size_t at = text.rfind("\"name\"");
  if (at == std::string_view::npos) at = text.rfind("'name'");
  if (at == std::string_view::npos) return {};
  at = text.find_first_not_of(": \t\r\n", at + 6);
  if (at == std::string_view::npos || (text[at] != '"' && text[at] != '\'')) return {};
  const size_t end = text.find(text[at], at + 1);
  return end == std::string_view::npos ? std::string{} : std::string(text.substr(at + 1, end - at - 1));
}

[[nodiscard]] bool begins_file(std::span<const std::byte> bytes) {
  const Format format = sniff(bytes).format;
  // Protocols 0 and 1 have no header: too little to tell them from any other letters.
  if (format == Format::pickle) return bytes[0] == std::byte{0x80};
  return format == Format::gzip || format == Format::zstd || format == Format::zip;
}

}  // namespace

HtmlReader::HtmlReader(OpenedFile& file, std::string place, int depth)
    : members_(file, std::move(place), depth, false) {}

Status HtmlReader::commit(size_t bytes) {
  const std::span<const std::byte> in = buffer_.first(bytes);
  const std::string_view text(reinterpret_cast<const char*>(in.data()), in.size());
  for (size_t at = 0; at < text.size();) {
    const bool is_letter = value_of(text[at]) >= 0 && !padded_;
    if (is_letter) {
      if (run_.empty() && deciding_) run_offset_ = received_ + static_cast<int64_t>(at);
      at += take_letters(text.substr(at));
    } else {
      take_other(text[at++]);
    }
  }
  received_ += static_cast<int64_t>(bytes);
  hand_on();
  return {};
}

// Takes letters from the front of `text` and tells how many.
size_t HtmlReader::take_letters(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && value_of(text[count]) >= 0) ++count;
  if (!deciding_) {
    if (!dropped_) decode(text.substr(0, count));
    return count;
  }
  count = std::min(count, kMinBase64 - run_.size());
  run_ += text.substr(0, count);
  if (run_.size() < kMinBase64) return count;
  deciding_ = false;
  decode(run_);
  dropped_ = !begins_file(decoded_);
  if (dropped_ && sniff(decoded_).format == Format::png) {
    is_timeline_picture_ = is_timeline_picture_ || recent_.find("GPU Memory Timeline") != std::string::npos;
  }
  if (!dropped_) {
    ++found_;
    std::string name = last_name(recent_);
    if (name.empty()) name = fmt::format("snapshot {}", found_);
    dropped_ = !members_.begin(name, Packing::stored, run_offset_);
  }
  if (dropped_) decoded_.clear();
  return count;
}

void HtmlReader::take_other(char c) {
  const bool in_run = !run_.empty();
  if (in_run && c == '=') {
    padded_ = true;
    return;
  }
  // Lines of base64, also as JavaScript writes them: `\n` inside of a text.
  if (in_run && !deciding_ && !padded_ && (c == '\n' || c == '\r')) return;
  if (in_run) end_run();
  recent_ += c;
  if (recent_.size() >= 2 * kRecentBytes) recent_.erase(0, kRecentBytes);
}

void HtmlReader::decode(std::string_view letters) {
  for (const char letter : letters) {
    bits_ = bits_ << 6 | static_cast<uint32_t>(value_of(letter));
    bit_count_ += 6;
    if (bit_count_ < 8) continue;
    bit_count_ -= 8;
    decoded_.push_back(static_cast<std::byte>(bits_ >> bit_count_));
  }
}

void HtmlReader::hand_on() {
  if (!members_.has_current() || deciding_) return;
  std::span<const std::byte> bytes = decoded_;
  while (!bytes.empty() && members_.current().state() == Unpacking::State::running)
    members_.current().feed(bytes);
  decoded_.clear();
}

void HtmlReader::end_run() {
  hand_on();
  if (members_.has_current()) {
    members_.end(Members::End::complete);
  } else {
    recent_ += run_;  // a short one may be the name
  }
  run_.clear();
  decoded_.clear();
  deciding_ = true;
  dropped_ = padded_ = false;
  bits_ = 0;
  bit_count_ = 0;
}

Status HtmlReader::finish() {
  hand_on();
  if (members_.has_current()) members_.end(Members::End::cut, "the page ends inside of it");
  if (found_ == 0 && is_timeline_picture_) {
    return fail(
        ErrorCode::unsupported, 0,
        "This page is a memory timeline of the PyTorch profiler as a picture (export_memory_timeline with "
        "a name that ends with .html): it holds pixels, no numbers. Export to a name that ends with .json or "
        ".raw.json.gz, and gpustrata reads the levels of every category.");
  }
  if (found_ == 0) {
    return fail(
        ErrorCode::unsupported, 0,
        "This is a web page without a snapshot inside. Pages made by PyTorch's _memory_viz.py and by `gpustrata "
        "html` have one. If this was a download, it may be an error page or a login page.");
  }
  return members_.conclude("web page");
}

}  // namespace gpustrata::io
