// The words of a JSON text (RFC 8259) that is whole in memory, one after the other: of questions and settings (json_value.h),
// of unknown data that a file keeps as text (io/encodings/json/text_values.h). Files are read by simdjson, traces by a lenient
// scanner of their own (io/readers/trace/trace_text.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpustrata {

// What may stand in a text, and what half of a surrogate pair becomes: UTF-8 without control characters, and U+FFFD; any
// bytes, and the three bytes of the half.
enum class JsonTexts : uint8_t { checked, any };

class JsonLexer {
 public:
  JsonLexer(std::string_view text, JsonTexts texts) : text_(text), texts_(texts) {}

  // The byte behind spaces; 0 at the end.
  [[nodiscard]] char next();
  // Passes by `word` if it is what comes behind spaces.
  [[nodiscard]] bool take(std::string_view word);
  // There is nothing but spaces.
  [[nodiscard]] bool is_at_end();
  // Appends the text that begins here. False: refused.
  [[nodiscard]] bool text(std::string& to);
  // The number that begins here; empty: refused. `whole`: it has neither point nor exponent.
  [[nodiscard]] std::string_view number(bool& whole);

  // Where it stands; of what was refused the byte at fault, and why.
  [[nodiscard]] size_t place() const { return at_; }
  [[nodiscard]] const char* why() const { return why_; }

 private:
  bool refuse(const char* why);
  [[nodiscard]] bool check_until(size_t end);
  [[nodiscard]] bool escape(std::string& to);
  [[nodiscard]] bool unit(uint32_t& value);

  std::string_view text_;
  JsonTexts texts_;
  size_t at_ = 0;
  const char* why_ = "";
};

// Of what number() gives; infinite if no double is so large.
[[nodiscard]] double json_double(std::string_view number);

}  // namespace gpustrata
