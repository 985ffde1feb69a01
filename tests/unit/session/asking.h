// Questions to a Session as a client asks them: JSON in a frame, the answer taken apart.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "engine/session/frame.h"
#include "engine/session/session.h"
#include "tests/unit/files.h"

namespace gpustrata::session {

[[nodiscard]] inline std::string question_frame(std::string_view head, uint32_t id = 1,
                                                uint32_t version = kProtocolVersion) {
  const auto length = static_cast<uint32_t>(head.size());
  std::string frame;
  for (const uint32_t number : {kQuestionMagic, version, id, length, 0U, 0U})
    frame.append(reinterpret_cast<const char*>(&number), sizeof number);
  return frame.append(head);
}

struct AnswerOf {
  uint32_t magic = 0, version = 0, id = 0;
  std::string head;                // less the padding
  std::vector<std::byte> columns;  // one after another, each padded to 8 bytes

  template <typename T>
  [[nodiscard]] std::vector<T> column(size_t offset, size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), columns.data() + offset, count * sizeof(T));
    return values;
  }
};

[[nodiscard]] inline AnswerOf taken_apart(std::span<const std::byte> frame) {
  uint32_t numbers[6] = {};
  std::memcpy(numbers, frame.data(), sizeof numbers);
  AnswerOf answer{numbers[0], numbers[1], numbers[2], {}, {}};
  const auto head = frame.subspan(kFrameHeader, numbers[3]);
  answer.head.assign(reinterpret_cast<const char*>(head.data()), head.size());
  answer.head.erase(answer.head.find_last_not_of(' ') + 1);
  const auto columns = frame.subspan(kFrameHeader + numbers[3]);
  if (columns.size() != numbers[4]) answer.head = "the columns have another length";
  answer.columns.assign(columns.begin(), columns.end());
  return answer;
}

[[nodiscard]] inline AnswerOf asked_frame(Session& session, std::string_view frame) {
  return taken_apart(session.ask(std::as_bytes(std::span(frame))));
}

// The head of the answer. `args` is JSON; view 0 = a question about the file.
[[nodiscard]] inline std::string asked(Session& session, std::string_view name, ViewId view = 0,
                                       std::string_view args = "{}") {
  std::string head = R"({"ask":")" + std::string(name) + '"';
  if (view != 0) head += ",\"view\":" + std::to_string(view);
  head += ",\"args\":" + std::string(args) + '}';
  return asked_frame(session, question_frame(head)).head;
}

[[nodiscard]] inline Status read_bytes(Session& session, std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const std::span<std::byte> room = session.writable();
    const size_t count = std::min(room.size(), bytes.size() - at);
    if (count == 0) return fail(ErrorCode::limit_exceeded, -1, "no room");
    std::memcpy(room.data(), bytes.data() + at, count);
    if (Status committed = session.commit(count); !committed) return committed;
    at += count;
  }
  return session.finish();
}

using tests::golden_input;

}  // namespace gpustrata::session
