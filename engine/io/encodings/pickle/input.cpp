#include "engine/io/encodings/pickle/input.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "engine/base/units.h"
#include "engine/base/utf8.h"
#include "engine/io/limits.h"

namespace gpustrata::io::pickle {

using model::Diag;

namespace {
constexpr size_t kAlignment = 64;  // reading into an unaligned buffer can be five times slower
}

Input::Input(model::Recording& recording, Schema& schema, std::string_view what)
    : recording_(recording),
      what_(what),
      machine_(recording.strings, recording.budget, recording.diagnostics, schema) {}

void Input::Buffer::Free::operator()(std::byte* bytes) const { std::free(bytes); }

bool Input::Buffer::make() {
  if (chunk != nullptr) return true;
  memory.reset(static_cast<std::byte*>(std::malloc(kGapBytes + kChunkBytes + kAlignment)));
  if (memory == nullptr) return false;
  void* at = memory.get() + kGapBytes;
  size_t space = kChunkBytes + kAlignment;
  chunk = static_cast<std::byte*>(std::align(kAlignment, kChunkBytes, at, space));
  return true;
}

void Input::look_behind_stop(std::span<const std::byte> bytes, int64_t offset) {
  trailing_ += static_cast<int64_t>(bytes.size());
  if (trailing_data_ >= 0) return;
  const auto* data =
      std::find_if(bytes.data(), bytes.data() + bytes.size(), [](std::byte b) { return b != std::byte{0}; });
  if (data != bytes.data() + bytes.size()) trailing_data_ = offset + (data - bytes.data());
}

std::string Input::size_that_would_work() const {
  const Budget& budget = recording_.budget;
  double needed = static_cast<double>(std::max(budget.needed(), budget.limit()));
  if (const int64_t at = machine_.halt_offset(); at > 0 && expected_ > at) {
    needed = std::max(needed, static_cast<double>(budget.used()) * static_cast<double>(expected_) /
                                  static_cast<double>(at));
  }
  constexpr double kMargin = 1.1;
  const auto enough = static_cast<int64_t>(std::min(needed * kMargin, 9.0e18));
  return fmt::format("{} are allowed, about {} would be enough", size_text(budget.limit()),
                     size_text(enough));
}

void Input::tell_how_it_ended() {
  model::Diagnostics& diagnostics = recording_.diagnostics;
  switch (machine_.halt()) {
    case Halt::stop:
      if (trailing_data_ >= 0 || trailing_ > kPaddingBytes) {
        diagnostics.add(Diag::trailing_bytes, machine_.halt_offset() + 1, count_text(trailing_) + " bytes");
      }
      break;
    case Halt::ended:
      diagnostics.add(Diag::truncated, machine_.halt_offset(), machine_.halt_text());
      break;
    case Halt::out_of_budget:
      diagnostics.add(Diag::budget_exhausted, machine_.halt_offset(), size_that_would_work());
      break;
    default:
      diagnostics.add(Diag::damaged, machine_.halt_offset(), machine_.halt_text());
  }
}

Status Input::too_little_memory() const {
  return fail(ErrorCode::limit_exceeded, machine_.halt_offset(),
              "the memory for this file does not suffice: {}", size_that_would_work());
}

Status Input::nothing_to_show(std::string_view holds) const {
  const int64_t at = machine_.halt_offset();
  switch (machine_.halt()) {
    case Halt::ended:
      if (received_ == 0) return fail(ErrorCode::truncated, 0, "the file is empty");
      return fail(ErrorCode::truncated, at, "{}, and nothing of {} came before it", machine_.halt_text(),
                  what_);
    case Halt::out_of_budget:
      return too_little_memory();
    case Halt::stop:
      break;
    default:
      return fail(ErrorCode::invalid_format, at,
                  "the pickle is damaged ({}), and nothing of {} came before that", machine_.halt_text(),
                  what_);
  }
  if (machine_.first_global().empty()) {
    return fail(ErrorCode::unsupported, -1, "not {}: the pickle holds {}", what_, utf8::sanitized(holds));
  }
  return fail(ErrorCode::unsupported, machine_.first_global_offset(),
              "not {}: the pickle holds {}; it refers to {}", what_, utf8::sanitized(holds),
              utf8::sanitized(machine_.first_global()));
}

void Input::expect_bytes(int64_t total) {
  expected_ = total;
  machine_.expect_bytes(total);
}

std::span<std::byte> Input::writable() {
  if (!now_.make()) {
    recording_.budget.note_refusal(static_cast<int64_t>(kGapBytes + kChunkBytes));
    return {};
  }
  return {now_.chunk, kChunkBytes};
}

std::span<std::byte> Input::writable_ahead() {
  if (!now_.make() || !ahead_.make()) return {};
  return {ahead_.chunk, kChunkBytes};
}

Status Input::commit(size_t bytes) {
  if (now_.chunk == nullptr || bytes > kChunkBytes) {
    return fail(ErrorCode::limit_exceeded, received_, "no memory for reading ({} needed)",
                size_text(static_cast<int64_t>(kChunkBytes)));
  }
  const int64_t start = received_;
  received_ += static_cast<int64_t>(bytes);
  const std::byte* const chunk = now_.chunk;
  if (ahead_.chunk != nullptr) std::swap(now_, ahead_);
  if (machine_.halt() == Halt::stop) look_behind_stop({chunk, bytes}, start);
  if (machine_.halt() != Halt::none) return {};

  const std::span<const std::byte> ready{chunk - unread_, unread_ + bytes};
  const size_t used = machine_.run(ready, start - static_cast<int64_t>(unread_));
  switch (machine_.halt()) {
    case Halt::none:
      unread_ = ready.size() - used;
      if (unread_ > kGapBytes) return fail(ErrorCode::internal, start, "an opcode of {} bytes", unread_);
      std::memmove(now_.chunk - unread_, ready.data() + used, unread_);
      break;
    case Halt::stop:
      look_behind_stop(ready.subspan(used), machine_.halt_offset() + 1);
      break;
    case Halt::unsupported:
      return fail(ErrorCode::unsupported, machine_.halt_offset(), "{}", machine_.halt_text());
    default:
      break;  // what was read before can be shown; `tell_how_it_ended` says it
  }
  return {};
}

Status Input::end() {
  if (machine_.halt() == Halt::none) machine_.end_of_input(received_);
  if (machine_.halt() == Halt::unsupported) {
    return fail(ErrorCode::unsupported, machine_.halt_offset(), "{}", machine_.halt_text());
  }
  return {};
}

}  // namespace gpustrata::io::pickle
