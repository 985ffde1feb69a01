#include "engine/io/encodings/json/input.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "engine/base/units.h"
#include "engine/base/utf8.h"
#include "engine/io/limits.h"

namespace gpustrata::io::json {

using model::Diag;

namespace {

constexpr size_t kAlignment = 64;
static_assert(kJsonPieceBytes % kAlignment == 0);

}  // namespace

void Input::Free::operator()(char* bytes) const { std::free(bytes); }

Input::Input(model::Recording& recording, values::Schema& schema, std::string_view what)
    : recording_(recording),
      what_(what),
      builder_(recording.strings, recording.budget, recording.diagnostics, schema),
      pieces_(builder_, recording.diagnostics),
      walker_(builder_, pieces_, recording.diagnostics),
      reserve_(recording.budget.take(kSalvageBytes) ? kSalvageBytes : 0) {}

Input::~Input() { recording_.budget.give_back(reserve_); }

void Input::look_behind(std::string_view text, int64_t offset) {
  if (trailing_ >= 0) return;
  const size_t found = text.find_first_not_of(std::string_view(" \t\r\n\0", 5));
  if (found != std::string_view::npos) trailing_ = offset + static_cast<int64_t>(found);
}

void Input::walk(std::span<char> text, bool last) {
  const int64_t offset = received_ - static_cast<int64_t>(text.size());
  if (walker_.halt() != Walker::Halt::none) return look_behind({text.data(), text.size()}, offset);
  const size_t used = walker_.walk(text, offset, last);
  if (walker_.halt() == Walker::Halt::complete) {
    look_behind({text.data() + used, text.size() - used}, offset + static_cast<int64_t>(used));
  }
  unread_ = walker_.halt() == Walker::Halt::none ? text.size() - used : 0;
  if (unread_ > 0) std::memmove(chunk_ - unread_, text.data() + used, unread_);
}

std::string Input::size_that_would_work() const {
  const Budget& budget = recording_.budget;
  double needed = static_cast<double>(std::max(budget.needed(), budget.limit()));
  if (const int64_t at = walker_.halt_offset(); at > 0 && expected_ > at) {
    needed = std::max(needed, static_cast<double>(budget.used()) * static_cast<double>(expected_) /
                                  static_cast<double>(at));
  }
  constexpr double kMargin = 1.1;
  return fmt::format("{} are allowed, about {} would be enough", size_text(budget.limit()),
                     size_text(static_cast<int64_t>(std::min(needed * kMargin, 9.0e18))));
}

Status Input::too_little_memory() const {
  return fail(ErrorCode::limit_exceeded, walker_.halt_offset(),
              "the memory for this file does not suffice: {}", size_that_would_work());
}

Status Input::nothing_to_show(std::string_view holds) const {
  switch (walker_.halt()) {
    case Walker::Halt::ended:
      return fail(ErrorCode::truncated, received_, "{}, and nothing of {} came before it",
                  walker_.halt_text(), what_);
    case Walker::Halt::damaged:
      return fail(ErrorCode::invalid_format, walker_.halt_offset(),
                  "the JSON text is damaged ({}), and nothing of {} came before that", walker_.halt_text(),
                  what_);
    case Walker::Halt::out_of_budget:
      return too_little_memory();
    default:
      return fail(ErrorCode::unsupported, -1, "not {}: the JSON text holds {}", what_,
                  utf8::sanitized(holds));
  }
}

void Input::tell_how_it_ended() {
  model::Diagnostics& diagnostics = recording_.diagnostics;
  switch (walker_.halt()) {
    case Walker::Halt::ended:
      diagnostics.add(Diag::truncated, received_, walker_.halt_text());
      break;
    case Walker::Halt::damaged:
      diagnostics.add(Diag::damaged, walker_.halt_offset(), walker_.halt_text());
      break;
    case Walker::Halt::out_of_budget:
      diagnostics.add(Diag::budget_exhausted, walker_.halt_offset(), size_that_would_work());
      break;
    default:
      if (trailing_ >= 0) diagnostics.add(Diag::trailing_bytes, trailing_);
  }
}

bool Input::done() const {
  // Behind the end of the text only white space may follow, which is looked at.
  const Walker::Halt halt = walker_.halt();
  return halt == Walker::Halt::damaged || halt == Walker::Halt::out_of_budget || trailing_ >= 0;
}

std::span<std::byte> Input::writable() {
  if (chunk_ == nullptr) {
    constexpr size_t kBytes = kJsonPieceBytes + kPackedChunkBytes + kPiecePadding;
    memory_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, kBytes)));
    if (!memory_) {
      recording_.budget.note_refusal(static_cast<int64_t>(kBytes));
      return {};
    }
    chunk_ = memory_.get() + kJsonPieceBytes;
    std::memset(chunk_ + kPackedChunkBytes, 0, kPiecePadding);
  }
  return {reinterpret_cast<std::byte*>(chunk_), kPackedChunkBytes};
}

Status Input::commit(size_t bytes) {
  if (chunk_ == nullptr) return fail(ErrorCode::limit_exceeded, received_, "no memory for reading");
  received_ += static_cast<int64_t>(bytes);
  const size_t unread = std::exchange(unread_, 0);
  walk({chunk_ - unread, unread + bytes}, false);
  return {};
}

Status Input::end() {
  if (chunk_ != nullptr) {
    const size_t unread = std::exchange(unread_, 0);
    if (walker_.halt() == Walker::Halt::none) walk({chunk_ - unread, unread}, true);
  }
  recording_.budget.give_back(std::exchange(reserve_, 0));
  while (builder_.depth() > 0) (void)builder_.close(true);
  return {};
}

}  // namespace gpustrata::io::json
