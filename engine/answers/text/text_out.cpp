#include "engine/answers/text/text_out.h"

namespace gpustrata::answers {

void TextOut::write(std::string_view text) {
  if (status_ && !text.empty()) status_ = sink_.write(io::bytes_of(text));
}

void TextOut::flush() {
  write(held_);
  held_.clear();
}

void TextOut::add(std::string_view text) {
  if (text.size() >= io::kSinkPiece) {
    flush();
    write(text);
    return;
  }
  held_ += text;
  if (held_.size() >= io::kSinkPiece) flush();
}

JsonWriter TextOut::json() {
  return JsonWriter([this](std::string_view piece) {
    add(piece);
    return !failed();
  });
}

void TextOut::end_line(JsonWriter& json) {
  if (json.finish()) add("\n");
}

Status TextOut::finish() {
  flush();
  return status_;
}

}  // namespace gpustrata::answers
