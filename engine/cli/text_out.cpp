#include "engine/cli/text_out.h"

namespace memstrata::cli {

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

void TextOut::take_from(JsonWriter& json) {
  if (json.text().size() >= io::kSinkPiece) json.drain([&](std::string_view text) { add(text); });
}

void TextOut::end_line(JsonWriter&& json) {
  add(json.text());
  add("\n");
}

Status TextOut::finish() {
  flush();
  return status_;
}

}  // namespace memstrata::cli
