#include "engine/base/utf8.h"

namespace gpustrata::utf8 {

Sequence sequence_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const int first = byte(0);
  if (first < 0x80) return {1, true};
  size_t length = 0;
  int low = 0x80, high = 0xBF;  // what the second byte may be
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;  // no longer forms than needed
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;  // up to U+10FFFF
  } else {
    return {1, false};
  }
  if (byte(1) < low || byte(1) > high) return {1, false};
  for (size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return {i, false};
  }
  const bool surrogate = first == 0xED && byte(1) >= 0xA0;
  return {length, !surrogate};
}

uint32_t code_point(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  uint32_t value = byte(0) & (0x7FU >> sequence.size());
  for (size_t i = 1; i < sequence.size(); ++i) value = value << 6 | (byte(i) & 0x3FU);
  return value;
}

std::string sanitized(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Sequence sequence = sequence_at(text, at);
    clean += sequence.valid ? text.substr(at, sequence.length) : kReplacement;
    at += sequence.length;
  }
  return clean;
}

std::string cut(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  size_t end = bytes;
  // A character has at most three bytes that continue it; more of them are no character.
  while (end > 0 && bytes - end < 3 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

void append(std::string& text, uint32_t code_point) {
  const auto add = [&text](uint32_t byte) { text += static_cast<char>(static_cast<uint8_t>(byte)); };
  if (code_point < 0x80) {
    add(code_point);
  } else if (code_point < 0x800) {
    add(0xC0 | code_point >> 6);
    add(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    add(0xE0 | code_point >> 12);
    add(0x80 | (code_point >> 6 & 0x3F));
    add(0x80 | (code_point & 0x3F));
  } else {
    add(0xF0 | code_point >> 18);
    add(0x80 | (code_point >> 12 & 0x3F));
    add(0x80 | (code_point >> 6 & 0x3F));
    add(0x80 | (code_point & 0x3F));
  }
}

int64_t units_before(std::string_view text, size_t bytes) {
  int64_t units = 0;
  for (size_t at = 0; at < text.size() && at < bytes;) {
    const Sequence sequence = sequence_at(text, at);
    units += sequence.length == 4 && sequence.valid ? 2 : 1;
    at += sequence.length;
  }
  return units;
}

size_t bytes_before(std::string_view text, size_t units) {
  size_t at = 0;
  for (size_t seen = 0; at < text.size() && seen < units;) {
    const Sequence sequence = sequence_at(text, at);
    seen += sequence.length == 4 && sequence.valid ? 2 : 1;
    at += sequence.length;
  }
  return at;
}

}  // namespace gpustrata::utf8
