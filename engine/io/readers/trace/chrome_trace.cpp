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

class ChromeTraceReader final : public Reader {
 public:
  explicit ChromeTraceReader(model::Recording& recording)
      : recording_(recording), rows_(recording), walk_(rows_, recording.diagnostics) {}

  [[nodiscard]] std::span<std::byte> writable() override {
    if (!memory_) {
      memory_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, kGap + kChunk)));
      if (!memory_) {
        recording_.budget.note_refusal(static_cast<int64_t>(kGap + kChunk));
        return {};
      }
    }
    return {reinterpret_cast<std::byte*>(chunk()), kChunk};
  }

  [[nodiscard]] Status commit(size_t bytes) override {
    if (!memory_) return fail(ErrorCode::limit_exceeded, received_, "no memory for reading");
    received_ += static_cast<int64_t>(bytes);
    read(bytes, false);
    return {};
  }

  [[nodiscard]] Status finish() override {
    if (memory_ && walk_.halt() == Walk::Halt::none) read(0, true);
    recording_.input_bytes = received_;
    if (!walk_.found_events()) {
      if (walk_.halt() == Walk::Halt::ended || received_ == 0) {
        return fail(ErrorCode::truncated, received_,
                    "the trace ends before its list of events (traceEvents)");
      }
      return fail(ErrorCode::unsupported, -1, "the JSON text holds no list of events (traceEvents)");
    }
    tell_how_it_ended();
    const size_t parts_before = recording_.parts.size();
    const bool made = traces::make_parts(recording_, rows_, walk_.clock());
    for (size_t i = parts_before; i < recording_.parts.size(); ++i)
      recording_.parts[i].launch = walk_.launch();
    if (!made && walk_.halt() != Walk::Halt::out_of_budget) {
      recording_.diagnostics.add(Diag::budget_exhausted, received_,
                                 fmt::format("{} are allowed", size_text(recording_.budget.limit())));
    }
    return {};
  }

  [[nodiscard]] bool done() const override {
    if (trailing_ >= 0) return true;
    const Walk::Halt halt = walk_.halt();
    return halt == Walk::Halt::damaged || halt == Walk::Halt::out_of_budget;
  }

  [[nodiscard]] std::string format() const override { return "chrome trace"; }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  [[nodiscard]] char* chunk() const { return memory_.get() + kGap; }

  void read(size_t bytes, bool last) {
    const size_t before = std::exchange(unread_, 0);
    const std::string_view text(chunk() - before, before + bytes);
    const int64_t offset = received_ - static_cast<int64_t>(text.size());
    size_t used = 0;
    if (walk_.halt() == Walk::Halt::none) used = walk_.walk(text, offset, last);
    if (walk_.halt() == Walk::Halt::complete && trailing_ < 0) {
      const size_t found = text.find_first_not_of(std::string_view(" \t\r\n\0", 5), used);
      if (found != std::string_view::npos) trailing_ = offset + static_cast<int64_t>(found);
    }
    if (walk_.halt() != Walk::Halt::none) return;
    unread_ = text.size() - used;
    std::memmove(chunk() - unread_, text.data() + used, unread_);
  }

  void tell_how_it_ended() const {
    const Budget& budget = recording_.budget;
    switch (walk_.halt()) {
      case Walk::Halt::ended:
        recording_.diagnostics.add(Diag::truncated, received_, walk_.halt_text());
        break;
      case Walk::Halt::damaged:
        recording_.diagnostics.add(Diag::damaged, walk_.halt_offset(), walk_.halt_text());
        break;
      case Walk::Halt::out_of_budget:
        recording_.diagnostics.add(Diag::budget_exhausted, walk_.halt_offset(),
                                   fmt::format("{} are allowed", size_text(budget.limit())));
        break;
      default:
        if (trailing_ >= 0) recording_.diagnostics.add(Diag::trailing_bytes, trailing_);
    }
  }

  model::Recording& recording_;
  traces::Rows rows_;
  Walk walk_;
  std::unique_ptr<char, Free> memory_;  // [gap | chunk]
  size_t unread_ = 0;
  int64_t received_ = 0;
  int64_t trailing_ = -1;  // first byte behind the text that is no white space
};

}  // namespace

std::unique_ptr<Reader> chrome_trace_reader(model::Recording& recording) {
  return std::make_unique<ChromeTraceReader>(recording);
}

}  // namespace gpustrata::io
