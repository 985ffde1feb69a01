// Every question that a client can ask, in one table: its name, what it takes, what it answers.
//
// A question arrives as a frame, is decoded, its arguments are checked (arguments.h), then it is answered by
// a few lines that call a View and write its answer. Adding one: those lines and a row below them (replies_of_*.cpp), and
// `node web/engine/protocol/generate.mjs`.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/session/arguments.h"
#include "engine/session/frame.h"
#include "engine/session/session.h"

namespace gpustrata::session {

// One question that is being answered.
struct Asked {
  // Where the answer is written, by a function of answers/.
  [[nodiscard]] auto& json() const { return answer.json(); }

  Session& session;
  View* view;  // null for questions about the file
  ViewId view_id;
  const Arguments& arguments;
  AnswerFrame& answer;
};

// A type of web/engine/protocol/answers.ts. In the page's engine there are none, as there are no schemas (answers/described/members.h).
#ifdef __EMSCRIPTEN__
struct AnswerType {
  constexpr AnswerType(const char*) {}
};
#else
using AnswerType = std::string_view;
#endif

struct Question {
  // states: about a view, and the allocator's states are needed for it; clients that others wait for ask
  // `prepare` before.
  enum class Of : uint8_t { file, view, states };

  std::string_view name;
  Of of = Of::file;
  std::string_view arguments;  // a signature, see arguments.h
  AnswerType answer;
  Status (*reply)(Asked& asked) = nullptr;
};
// All of them.
[[nodiscard]] std::vector<Question> questions();

// Error: whatever is wrong with the question or keeps it from being answered.
[[nodiscard]] Status answer_question(Session& session, std::span<const std::byte> frame, AnswerFrame& answer);

}  // namespace gpustrata::session
