#include "engine/io/readers/json_snapshot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engine/base/units.h"
#include "engine/base/utf8.h"
#include "engine/io/encodings/json/piece_reader.h"
#include "engine/io/encodings/json/walker.h"
#include "engine/io/limits.h"
#include "engine/io/readers/snapshot_schema.h"
#include "engine/io/values/builder.h"

namespace memstrata::io {

using json::Walker;
using model::Diag;

namespace {

constexpr size_t kAlignment = 64;
static_assert(kJsonPieceBytes % kAlignment == 0);

struct FreeBytes {
  void operator()(char* bytes) const { std::free(bytes); }
};

}  // namespace

struct JsonSnapshotReader::State {
  State(model::Recording& target, bool seals_it)
      : recording(target),
        seals(seals_it),
        schema(target),
        builder(target.strings, target.budget, target.diagnostics, schema),
        pieces(builder, target.diagnostics),
        walker(builder, pieces, target.diagnostics) {
    reserve = target.budget.take(kSalvageBytes) ? kSalvageBytes : 0;
  }
  ~State() { recording.budget.give_back(reserve); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  model::Recording& recording;
  bool seals;
  SnapshotSchema schema;
  values::Builder builder;
  json::PieceReader pieces;
  Walker walker;
  int64_t reserve = 0;  // of the budget, for closing what is open when it runs out

  // [what is unread of the last chunk | chunk | padding]
  std::unique_ptr<char, FreeBytes> memory;
  char* chunk = nullptr;
  size_t unread = 0;
  int64_t received = 0;
  int64_t expected = 0;
  int64_t trailing = -1;  // offset of the first byte behind the text that is no white space
  bool finished = false;

  void look_behind(std::string_view text, int64_t offset) {
    if (trailing >= 0) return;
    const size_t found = text.find_first_not_of(std::string_view(" \t\r\n\0", 5));
    if (found != std::string_view::npos) trailing = offset + static_cast<int64_t>(found);
  }

  void walk(std::span<char> text, bool last) {
    const int64_t offset = received - static_cast<int64_t>(text.size());
    if (walker.halt() != Walker::Halt::none) return look_behind({text.data(), text.size()}, offset);
    const size_t used = walker.walk(text, offset, last);
    if (walker.halt() == Walker::Halt::complete) {
      look_behind({text.data() + used, text.size() - used}, offset + static_cast<int64_t>(used));
    }
    unread = walker.halt() == Walker::Halt::none ? text.size() - used : 0;
    if (unread > 0) std::memmove(chunk - unread, text.data() + used, unread);
  }

  [[nodiscard]] std::string size_that_would_work() const {
    double needed = static_cast<double>(std::max(recording.budget.needed(), recording.budget.limit()));
    if (const int64_t at = walker.halt_offset(); at > 0 && expected > at) {
      needed = std::max(needed, static_cast<double>(recording.budget.used()) * static_cast<double>(expected) /
                                    static_cast<double>(at));
    }
    constexpr double kMargin = 1.1;
    return fmt::format("{} are allowed, about {} would be enough", size_text(recording.budget.limit()),
                       size_text(static_cast<int64_t>(std::min(needed * kMargin, 9.0e18))));
  }

  [[nodiscard]] Status too_little_memory() const {
    return fail(ErrorCode::limit_exceeded, walker.halt_offset(),
                "the memory for this file does not suffice: {}", size_that_would_work());
  }

  [[nodiscard]] Status nothing_to_show() const {
    switch (walker.halt()) {
      case Walker::Halt::ended:
        return fail(ErrorCode::truncated, received, "{}, and nothing of a memory snapshot came before it",
                    walker.halt_text());
      case Walker::Halt::damaged:
        return fail(ErrorCode::invalid_format, walker.halt_offset(),
                    "the JSON text is damaged ({}), and nothing of a memory snapshot came before that",
                    walker.halt_text());
      case Walker::Halt::out_of_budget:
        return too_little_memory();
      default:
        return fail(ErrorCode::unsupported, -1, "not a memory snapshot: the JSON text holds {}",
                    utf8::sanitized(schema.description(builder.result())));
    }
  }

  void tell_how_it_ended() {
    model::Diagnostics& diagnostics = recording.diagnostics;
    switch (walker.halt()) {
      case Walker::Halt::ended:
        diagnostics.add(Diag::truncated, received, walker.halt_text());
        break;
      case Walker::Halt::damaged:
        diagnostics.add(Diag::damaged, walker.halt_offset(), walker.halt_text());
        break;
      case Walker::Halt::out_of_budget:
        diagnostics.add(Diag::budget_exhausted, walker.halt_offset(), size_that_would_work());
        break;
      default:
        if (trailing >= 0) diagnostics.add(Diag::trailing_bytes, trailing);
    }
  }
};

JsonSnapshotReader::JsonSnapshotReader(model::Recording& recording)
    : state_(std::make_unique<State>(recording, true)) {}

JsonSnapshotReader::JsonSnapshotReader(model::Recording& recording, LeftOpen)
    : state_(std::make_unique<State>(recording, false)) {}

JsonSnapshotReader::~JsonSnapshotReader() = default;

void JsonSnapshotReader::expect_bytes(int64_t total) {
  state_->expected = total;
  state_->schema.expect_bytes(total);
}

bool JsonSnapshotReader::done() const {
  // Behind the end of the text only white space may follow, which is looked at.
  const Walker::Halt halt = state_->walker.halt();
  return halt == Walker::Halt::damaged || halt == Walker::Halt::out_of_budget || state_->trailing >= 0;
}

std::span<std::byte> JsonSnapshotReader::writable() {
  State& s = *state_;
  if (s.chunk == nullptr) {
    constexpr size_t kBytes = kJsonPieceBytes + kPackedChunkBytes + json::kPiecePadding;
    s.memory.reset(static_cast<char*>(std::aligned_alloc(kAlignment, kBytes)));
    if (!s.memory) {
      s.recording.budget.note_refusal(static_cast<int64_t>(kBytes));
      return {};
    }
    s.chunk = s.memory.get() + kJsonPieceBytes;
    std::memset(s.chunk + kPackedChunkBytes, 0, json::kPiecePadding);
  }
  return {reinterpret_cast<std::byte*>(s.chunk), kPackedChunkBytes};
}

Status JsonSnapshotReader::commit(size_t bytes) {
  State& s = *state_;
  if (s.chunk == nullptr) return fail(ErrorCode::limit_exceeded, s.received, "no memory for reading");
  if (!s.schema.is_ready()) return s.too_little_memory();
  s.received += static_cast<int64_t>(bytes);
  const size_t unread = std::exchange(s.unread, 0);
  s.walk({s.chunk - unread, unread + bytes}, false);
  return {};
}

Status JsonSnapshotReader::finish() {
  State& s = *state_;
  if (s.finished) return {};
  if (!s.schema.is_ready()) return s.too_little_memory();
  if (s.chunk != nullptr) {
    const size_t unread = std::exchange(s.unread, 0);
    if (s.walker.halt() == Walker::Halt::none) s.walk({s.chunk - unread, unread}, true);
  }
  s.recording.budget.give_back(std::exchange(s.reserve, 0));
  while (s.builder.depth() > 0) (void)s.builder.close(true);
  const bool whole = s.walker.halt() == Walker::Halt::complete;
  const bool found = s.schema.publish(s.builder.result(), !whole);
  s.recording.input_bytes = s.received;
  if (!found) return s.nothing_to_show();
  s.tell_how_it_ended();
  s.finished = true;
  s.memory.reset();
  s.chunk = nullptr;
  if (s.seals) s.recording.seal();
  return {};
}

}  // namespace memstrata::io
