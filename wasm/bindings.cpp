// The engine's Session for JavaScript. No logic here: bytes go in, bytes come out.
//
// Ownership: a typed array that a method returns is a VIEW of engine memory. It dies with the next call of
// any method, because the heap may grow or the buffer be used again: copy it before anything else runs.
#include <emscripten/bind.h>

#include <cstdint>
#include <string>

#include "engine/session/session.h"
#include "wasm/answer_text.h"

namespace {

using emscripten::typed_memory_view;
using emscripten::val;
using gpustrata::wasm::text_of;

struct Progress {
  double bytes, events, heap;
};

// Out of the range of int64 the conversion would be undefined; NaN counts as 0.
int64_t whole(double number) {
  constexpr double kFar = 9007199254740992.0;  // 2^53
  return number > 0 ? static_cast<int64_t>(number < kFar ? number : kFar) : 0;
}

class Session {
 public:
  explicit Session(double budget_bytes) : session_(whole(budget_bytes)) {}

  void expect(double bytes) { session_.expect_bytes(whole(bytes)); }
  val writable() { return bytes_of(session_.writable()); }
  std::string commit(double bytes) { return text_of(session_.commit(static_cast<size_t>(whole(bytes)))); }
  std::string finish() { return text_of(session_.finish()); }
  bool done() const { return session_.done(); }
  Progress progress() const {
    const auto progress = session_.progress();
    return {static_cast<double>(progress.bytes), static_cast<double>(progress.events),
            static_cast<double>(progress.heap)};
  }

  // Room for a question, for which ask() then tells its length.
  val question(double bytes) {
    const auto length = whole(bytes);
    question_.resize(length <= kLongestQuestion ? static_cast<size_t>(length) : 0);
    return bytes_of(std::as_writable_bytes(std::span(question_)));
  }
  val ask() { return bytes_of(session_.ask(std::as_bytes(std::span(question_)))); }

 private:
  static constexpr int64_t kLongestQuestion = int64_t{1} << 21;  // more than the engine takes: it says so

  static val bytes_of(std::span<const std::byte> bytes) {
    return val(typed_memory_view(bytes.size(), reinterpret_cast<const unsigned char*>(bytes.data())));
  }

  gpustrata::session::Session session_;
  std::string question_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(gpustrata) {
  emscripten::value_object<Progress>("Progress")
      .field("bytes", &Progress::bytes)
      .field("events", &Progress::events)
      .field("heap", &Progress::heap);
  emscripten::class_<Session>("Session")
      .constructor<double>()
      .function("expect", &Session::expect)
      .function("writable", &Session::writable)
      .function("commit", &Session::commit)
      .function("finish", &Session::finish)
      .function("done", &Session::done)
      .function("progress", &Session::progress)
      .function("question", &Session::question)
      .function("ask", &Session::ask);
}
