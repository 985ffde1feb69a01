#include "engine/io/readers/series/memory_timeline.h"

#include <algorithm>
#include <memory>

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

struct MemoryTimelineReader::State {
  explicit State(model::Recording& to) : recording(to), rows(to), lists(rows, to.diagnostics) {}

  model::Recording& recording;
  MemoryTimelineRows rows;
  NumberLists lists;
  InputBuffer buffer;
  int64_t received = 0;
};

MemoryTimelineReader::MemoryTimelineReader(model::Recording& recording, LeftOpen)
    : state_(std::make_unique<State>(recording)) {}

MemoryTimelineReader::~MemoryTimelineReader() = default;

void MemoryTimelineReader::expect_bytes(int64_t /*total*/) {}

bool MemoryTimelineReader::done() const {
  const NumberLists& lists = state_->lists;
  return lists.halt() == NumberLists::Halt::damaged || lists.halt() == NumberLists::Halt::out_of_budget ||
         lists.trailing() >= 0;
}

std::span<std::byte> MemoryTimelineReader::writable() { return state_->buffer.writable(); }

Status MemoryTimelineReader::commit(size_t bytes) {
  const std::span<const std::byte> chunk = state_->buffer.first(bytes);
  state_->lists.read({reinterpret_cast<const char*>(chunk.data()), chunk.size()}, state_->received);
  state_->received += static_cast<int64_t>(bytes);
  return {};
}

Status MemoryTimelineReader::finish() {
  State& s = *state_;
  s.lists.end(s.received);
  const NumberLists& lists = s.lists;
  model::Diagnostics& diagnostics = s.recording.diagnostics;
  const auto sizes = [&] {
    const Budget& budget = s.recording.budget;
    return "a budget of " + size_text(budget.limit());
  };
  if (!s.rows.has_rows() && lists.halt() != NumberLists::Halt::complete) {
    switch (lists.halt()) {
      case NumberLists::Halt::ended:
        return fail(ErrorCode::truncated, s.received, "{}, and no row of a memory timeline came before it",
                    lists.halt_text());
      case NumberLists::Halt::damaged:
        return fail(ErrorCode::invalid_format, lists.halt_offset(),
                    "the JSON text is damaged ({}), and no row of a memory timeline came before that",
                    lists.halt_text());
      default:
        return fail(ErrorCode::limit_exceeded, lists.halt_offset(),
                    "the memory for this file does not suffice: {}", sizes());
    }
  }
  if (!s.rows.publish() || lists.halt() == NumberLists::Halt::out_of_budget)
    diagnostics.add(Diag::budget_exhausted, lists.halt_offset(), sizes());
  if (lists.halt() == NumberLists::Halt::ended)
    diagnostics.add(Diag::truncated, s.received, lists.halt_text());
  if (lists.halt() == NumberLists::Halt::damaged)
    diagnostics.add(Diag::damaged, lists.halt_offset(), lists.halt_text());
  if (lists.trailing() >= 0) diagnostics.add(Diag::trailing_bytes, lists.trailing());
  s.recording.input_bytes = s.received;
  return {};
}

}  // namespace gpustrata::io
