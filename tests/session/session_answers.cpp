// session_answers FILE < questions > answers: frames in, frames out (engine/session/frame.h), for comparing the native
// engine with others.
#include <cstdio>
#include <cstring>
#include <string>

#include "engine/session/frame.h"
#include "engine/session/session.h"

namespace {

using gpustrata::session::kFrameHeader;

[[nodiscard]] bool read_file(gpustrata::session::Session& session, const char* path) {
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  bool good = true;
  for (;;) {
    const auto room = session.writable();
    const size_t bytes = std::fread(room.data(), 1, room.size(), file);
    if (bytes == 0) break;
    good = good && session.commit(bytes).has_value();
  }
  std::fclose(file);
  return good && session.finish().has_value();
}

// False at the end of the input.
[[nodiscard]] bool read_frame(std::string& frame) {
  frame.resize(kFrameHeader);
  if (std::fread(frame.data(), 1, kFrameHeader, stdin) != kFrameHeader) return false;
  uint32_t head = 0;
  std::memcpy(&head, frame.data() + 12, sizeof head);
  frame.resize(kFrameHeader + head);
  return std::fread(frame.data() + kFrameHeader, 1, head, stdin) == head;
}

}  // namespace

int main(int count, char** arguments) {
  gpustrata::session::Session session(int64_t{1} << 30);
  if (count != 2 || !read_file(session, arguments[1])) return 1;
  for (std::string frame; read_frame(frame);) {
    const auto answer = session.ask(std::as_bytes(std::span(frame)));
    std::fwrite(answer.data(), 1, answer.size(), stdout);
  }
  return 0;
}
