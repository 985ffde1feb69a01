// Questions and answers on the wire, the same bytes for a worker, a server and a test.
//
// A frame, little-endian:
//   u32 magic     "MSTQ" or "MSTA"
//   u32 version   kProtocolVersion; another one is refused
//   u32 id        chosen by who asks, given back with the answer
//   u32 head      bytes of JSON, a multiple of 8 (padded with spaces)
//   u32 columns   bytes behind it
//   u32 0
//   the head, then the columns one after another, each from a multiple of 8 on (padded with zeros)
//
// Head of a question:  {"ask":name,"view":id (of questions about a view),"args":{...}}; it has no columns.
// Head of an answer:   {"answer":...,"columns":[{"name":"curves.event","type":"i32","count":n},...]}
//                      or {"error":{"code","message","offset","inside"?}}
// A column stands in the answer's object at the place that its name says. Types: i32, f32, f64, u8, and rgba
// (pixels, 4 bytes each).
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "engine/answers/described/members.h"
#include "engine/base/column.h"
#include "engine/base/json_writer.h"
#include "engine/base/status.h"

namespace gpustrata::session {

// Goes up with every change of a question, an argument or an answer that an older client would misread.
inline constexpr uint32_t kProtocolVersion = 1;

inline constexpr uint32_t kQuestionMagic = 0x5154534D;  // "MSTQ"
inline constexpr uint32_t kAnswerMagic = 0x4154534D;    // "MSTA"
inline constexpr size_t kFrameHeader = 24;
inline constexpr size_t kLargestQuestion = size_t{1} << 20;

struct QuestionFrame {
  uint32_t id = 0;
  std::string_view head;  // refers to the frame
};
// The id is read first, so that even a refusal says what it answers. Error: truncated, unsupported (another
// version), invalid_format, limit_exceeded.
[[nodiscard]] uint32_t id_of(std::span<const std::byte> frame);
[[nodiscard]] Result<QuestionFrame> read_question(std::span<const std::byte> frame);

// An answer in the making. Columns lie where they are sent from: a picture is painted into its frame.
class AnswerFrame final : public answers::ColumnSink {
 public:
  explicit AnswerFrame(Budget& budget) : head_(budget), frame_(budget) {}
  AnswerFrame(const AnswerFrame&) = delete;
  AnswerFrame& operator=(const AnswerFrame&) = delete;

  void begin();
  // The answer's JSON value goes here, charged as it grows; null if nothing is written.
  [[nodiscard]] JsonWriter& json() { return json_; }
  // Room for a column, not cleared; it stays where it is until the next one. What there is no memory for is an error of the
  // whole answer.
  [[nodiscard]] std::byte* room(std::string_view name, answers::Element element, size_t count) override;
  [[nodiscard]] Result<std::span<uint32_t>> pixels(std::string_view name, size_t count);

  // The frame, valid until the next begin(); an error if there was no memory for it.
  [[nodiscard]] std::span<const std::byte> finish(uint32_t id);
  [[nodiscard]] std::span<const std::byte> refuse(uint32_t id, const Error& error);
  // Gives back what a large one took.
  void forget();

 private:
  [[nodiscard]] bool append(std::string_view text);

  JsonWriter json_;
  JsonWriter columns_;
  Column<std::byte> head_;   // room for a header, then the head
  Column<std::byte> frame_;  // kHeadRoom bytes that end with the head, then the columns
  size_t column_bytes_ = 0;
  Status status_;
  std::string refusal_;  // needs no memory of the budget
};

}  // namespace gpustrata::session
