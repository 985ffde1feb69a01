#include "engine/io/encodings/csv/records.h"

#include <utility>

namespace gpustrata::io::csv {

void Records::end_field() {
  if (fields_.size() < kMostFields) {
    fields_.push_back(std::exchange(field_, {}));
  } else {
    field_.clear();
    is_cut_ = true;
  }
}

void Records::end_record() {
  end_field();
  const bool is_empty = fields_.size() == 1 && fields_[0].empty();
  if (is_cut_) diagnostics_.add(model::Diag::text_cut, begin_);
  if (!is_empty && !take_(fields_, begin_)) stopped_ = true;
  fields_.clear();
  bytes_ = 0;
  begin_ = -1;
  is_cut_ = false;
}

void Records::step(char c, int64_t offset) {
  if (begin_ < 0) begin_ = offset;
  if (in_quotes_) {
    if (was_quote_) {
      was_quote_ = false;
      if (c != '"') in_quotes_ = false;
    } else if (c == '"') {
      was_quote_ = true;
      return;
    }
  } else if (c == '"' && field_.empty()) {
    in_quotes_ = true;
    return;
  }
  if (!in_quotes_) {
    if (c == ',') return end_field();
    if (c == '\n') return end_record();
    if (c == '\r') return;
  }
  if (bytes_ == kLongestRecord) {
    is_cut_ = true;
    return;
  }
  ++bytes_;
  field_ += c;
}

void Records::read(std::string_view text, int64_t offset) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  for (size_t at = 0; at < text.size() && !stopped_; ++at) {
    const int64_t place = offset + static_cast<int64_t>(at);
    if (place < 3 && text[at] == kByteOrderMark[static_cast<size_t>(place)]) continue;
    step(text[at], place);
  }
}

bool Records::end() {
  if (begin_ < 0 || stopped_) return true;
  if (in_quotes_ && !was_quote_) return false;
  end_record();
  return true;
}

}  // namespace gpustrata::io::csv
