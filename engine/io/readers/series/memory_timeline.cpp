#include "engine/io/readers/series/memory_timeline.h"

#include <algorithm>

#include "engine/base/units.h"
#include "engine/io/containers/input_buffer.h"
#include "engine/io/readers/series/memory_timeline_rows.h"

namespace gpustrata::io {

using json::NumberLists;
using model::Diag;

namespace {

constexpr std::string_view kSpace = " \t\r\n";

// Takes one character and the white space before it.
[[nodiscard]] bool take(std::string_view text, size_t& at, char c) {
  const size_t found = text.find_first_not_of(kSpace, at);
  if (found == std::string_view::npos || text[found] != c) return false;
  at = found + 1;
  return true;
}

[[nodiscard]] bool is_at_end(std::string_view text, size_t at) {
  return text.find_first_not_of(kSpace, at) == std::string_view::npos;
}

}  // namespace

bool begins_memory_timeline(std::string_view text) {
  constexpr std::string_view kNumber = "+-.0123456789eE";
  constexpr size_t kRawNumbers = 4;
  size_t at = 0;
  if (!take(text, at, '[') || !take(text, at, '[')) return false;
  size_t numbers = 0;
  bool is_closed = take(text, at, ']');
  while (!is_closed) {
    const size_t start = std::min(text.find_first_not_of(kSpace, at), text.size());
    at = std::min(text.find_first_not_of(kNumber, start), text.size());
    if (at == text.size()) return numbers > kRawNumbers;  // times, longer than what there is to see
    if (at == start) return false;
    ++numbers;
    is_closed = take(text, at, ']');
    if (!is_closed && !take(text, at, ',')) return numbers > kRawNumbers && is_at_end(text, at);
  }
  // Times are followed by a list of lists, or of nothing; a row by a row.
  const bool has_more = take(text, at, ',');
  if (!has_more) return numbers == kRawNumbers;
  if (!take(text, at, '[')) return numbers == kRawNumbers && is_at_end(text, at);
  size_t inner = at;
  if (take(text, inner, '[')) return true;
  if (numbers == 0) return take(text, inner, ']');
  return numbers == kRawNumbers &&
         (is_at_end(text, at) ||
          kNumber.find(text[text.find_first_not_of(kSpace, at)]) != std::string_view::npos);
}

namespace {

class MemoryTimelineReader final : public Reader {
 public:
  explicit MemoryTimelineReader(model::Recording& to)
      : recording_(to), rows_(to), lists_(rows_, to.diagnostics) {}

  [[nodiscard]] std::span<std::byte> writable() override { return buffer_.writable(); }

  [[nodiscard]] Status commit(size_t bytes) override {
    const std::span<const std::byte> chunk = buffer_.first(bytes);
    lists_.read({reinterpret_cast<const char*>(chunk.data()), chunk.size()}, received_);
    received_ += static_cast<int64_t>(bytes);
    return {};
  }

  [[nodiscard]] Status finish() override {
    lists_.end(received_);
    model::Diagnostics& diagnostics = recording_.diagnostics;
    const auto sizes = [&] {
      const Budget& budget = recording_.budget;
      return "a budget of " + size_text(budget.limit());
    };
    if (!rows_.has_rows() && lists_.halt() != NumberLists::Halt::complete) {
      switch (lists_.halt()) {
        case NumberLists::Halt::ended:
          return fail(ErrorCode::truncated, received_, "{}, and no row of a memory timeline came before it",
                      lists_.halt_text());
        case NumberLists::Halt::damaged:
          return fail(ErrorCode::invalid_format, lists_.halt_offset(),
                      "the JSON text is damaged ({}), and no row of a memory timeline came before that",
                      lists_.halt_text());
        default:
          return fail(ErrorCode::limit_exceeded, lists_.halt_offset(),
                      "the memory for this file does not suffice: {}", sizes());
      }
    }
    if (!rows_.publish() || lists_.halt() == NumberLists::Halt::out_of_budget)
      diagnostics.add(Diag::budget_exhausted, lists_.halt_offset(), sizes());
    if (lists_.halt() == NumberLists::Halt::ended)
      diagnostics.add(Diag::truncated, received_, lists_.halt_text());
    if (lists_.halt() == NumberLists::Halt::damaged)
      diagnostics.add(Diag::damaged, lists_.halt_offset(), lists_.halt_text());
    if (lists_.trailing() >= 0) diagnostics.add(Diag::trailing_bytes, lists_.trailing());
    recording_.input_bytes = received_;
    return {};
  }

  [[nodiscard]] bool done() const override {
    return lists_.halt() == NumberLists::Halt::damaged || lists_.halt() == NumberLists::Halt::out_of_budget ||
           lists_.trailing() >= 0;
  }

  [[nodiscard]] std::string format() const override { return "json"; }

 private:
  model::Recording& recording_;
  MemoryTimelineRows rows_;
  NumberLists lists_;
  InputBuffer buffer_;
  int64_t received_ = 0;
};

}  // namespace

std::unique_ptr<Reader> memory_timeline_reader(model::Recording& recording) {
  return std::make_unique<MemoryTimelineReader>(recording);
}

}  // namespace gpustrata::io
