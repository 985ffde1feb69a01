#include "engine/io/readers/trace/chrome_trace.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "engine/base/units.h"
#include "engine/io/limits.h"
#include "engine/io/readers/trace/trace_parts.h"
#include "engine/io/readers/trace/trace_walk.h"

namespace gpustrata::io {

using model::Diag;
using traces::Walk;

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kChunk = size_t{1} << 20;
// What the last chunk left unread comes in front of the next one.
constexpr size_t kGap = 2 * traces::kLongestEvent;

}  // namespace

struct ChromeTraceReader::State {
  explicit State(model::Recording& recording) : rows(recording), walk(rows, recording.diagnostics) {}

  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  traces::Rows rows;
  Walk walk;
  std::unique_ptr<char, Free> memory;  // [gap | chunk]
  size_t unread = 0;
  int64_t received = 0;
  int64_t trailing = -1;  // first byte behind the text that is no white space

  [[nodiscard]] char* chunk() const { return memory.get() + kGap; }

  void read(size_t bytes, bool last) {
    const size_t before = std::exchange(unread, 0);
    const std::string_view text(chunk() - before, before + bytes);
    const int64_t offset = received - static_cast<int64_t>(text.size());
    size_t used = 0;
    if (walk.halt() == Walk::Halt::none) used = walk.walk(text, offset, last);
    if (walk.halt() == Walk::Halt::complete && trailing < 0) {
      const size_t found = text.find_first_not_of(std::string_view(" \t\r\n\0", 5), used);
      if (found != std::string_view::npos) trailing = offset + static_cast<int64_t>(found);
    }
    if (walk.halt() != Walk::Halt::none) return;
    unread = text.size() - used;
    std::memmove(chunk() - unread, text.data() + used, unread);
  }

  void tell_how_it_ended(model::Recording& recording) const {
    const Budget& budget = recording.budget;
    switch (walk.halt()) {
      case Walk::Halt::ended:
        recording.diagnostics.add(Diag::truncated, received, walk.halt_text());
        break;
      case Walk::Halt::damaged:
        recording.diagnostics.add(Diag::damaged, walk.halt_offset(), walk.halt_text());
        break;
      case Walk::Halt::out_of_budget:
        recording.diagnostics.add(Diag::budget_exhausted, walk.halt_offset(),
                                  fmt::format("{} are allowed", size_text(budget.limit())));
        break;
      default:
        if (trailing >= 0) recording.diagnostics.add(Diag::trailing_bytes, trailing);
    }
  }
};

ChromeTraceReader::ChromeTraceReader(model::Recording& recording)
    : recording_(recording), seals_(true), state_(std::make_unique<State>(recording)) {}

ChromeTraceReader::ChromeTraceReader(model::Recording& recording, LeftOpen)
    : recording_(recording), seals_(false), state_(std::make_unique<State>(recording)) {}

ChromeTraceReader::~ChromeTraceReader() = default;

void ChromeTraceReader::expect_bytes(int64_t) {}

bool ChromeTraceReader::done() const {
  if (!state_ || state_->trailing >= 0) return true;
  const Walk::Halt halt = state_->walk.halt();
  return halt == Walk::Halt::damaged || halt == Walk::Halt::out_of_budget;
}

std::span<std::byte> ChromeTraceReader::writable() {
  if (!state_) return {};
  if (!state_->memory) {
    state_->memory.reset(static_cast<char*>(std::aligned_alloc(kAlignment, kGap + kChunk)));
    if (!state_->memory) {
      recording_.budget.note_refusal(static_cast<int64_t>(kGap + kChunk));
      return {};
    }
  }
  return {reinterpret_cast<std::byte*>(state_->chunk()), kChunk};
}

Status ChromeTraceReader::commit(size_t bytes) {
  if (!state_) return {};
  if (!state_->memory) return fail(ErrorCode::limit_exceeded, state_->received, "no memory for reading");
  state_->received += static_cast<int64_t>(bytes);
  state_->read(bytes, false);
  return {};
}

Status ChromeTraceReader::finish() {
  if (!state_) return {};
  State& state = *state_;
  if (state.memory && state.walk.halt() == Walk::Halt::none) state.read(0, true);
  recording_.input_bytes = state.received;
  if (!state.walk.found_events()) {
    if (state.walk.halt() == Walk::Halt::ended || state.received == 0) {
      return fail(ErrorCode::truncated, state.received,
                  "the trace ends before its list of events (traceEvents)");
    }
    return fail(ErrorCode::unsupported, -1, "the JSON text holds no list of events (traceEvents)");
  }
  state.tell_how_it_ended(recording_);
  const size_t parts_before = recording_.parts.size();
  const bool made = traces::make_parts(recording_, state.rows, state.walk.clock());
  for (size_t i = parts_before; i < recording_.parts.size(); ++i)
    recording_.parts[i].launch = state.walk.launch();
  if (!made && state.walk.halt() != Walk::Halt::out_of_budget) {
    recording_.diagnostics.add(Diag::budget_exhausted, state.received,
                               fmt::format("{} are allowed", size_text(recording_.budget.limit())));
  }
  state_.reset();
  if (seals_) recording_.seal();
  return {};
}

}  // namespace gpustrata::io
