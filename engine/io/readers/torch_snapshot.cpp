#include "engine/io/readers/torch_snapshot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "engine/base/units.h"
#include "engine/base/utf8.h"
#include "engine/io/encodings/pickle/machine.h"
#include "engine/io/limits.h"
#include "engine/io/readers/event_entries.h"
#include "engine/io/readers/snapshot_schema.h"

namespace memstrata::io {

using model::Diag;
using pickle::Halt;

namespace {

constexpr size_t kAlignment = 64;  // reading into an unaligned buffer can be five times slower

struct FreeBytes {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};

}  // namespace

struct TorchSnapshotReader::State {
  State(model::Recording& target, Way way, bool seals_it)
      : recording(target),
        seals(seals_it),
        schema(std::make_unique<SnapshotSchema>(target)),
        machine(
            std::make_unique<pickle::Machine>(target.strings, target.budget, target.diagnostics, *schema)) {
    if (way == Way::plain) return;
    entries = std::make_unique<EventEntries>(*schema, target);
    machine->use(entries.get());
  }

  model::Recording& recording;
  bool seals;
  std::unique_ptr<SnapshotSchema> schema;
  std::unique_ptr<EventEntries> entries;
  std::unique_ptr<pickle::Machine> machine;  // none once finished

  // [gap | chunk]: what the machine left unread lies right before the chunk.
  struct Buffer {
    std::unique_ptr<std::byte, FreeBytes> memory;
    std::byte* chunk = nullptr;

    [[nodiscard]] bool make() {
      if (chunk != nullptr) return true;
      memory.reset(static_cast<std::byte*>(std::malloc(kGapBytes + kChunkBytes + kAlignment)));
      if (memory == nullptr) return false;
      void* at = memory.get() + kGapBytes;
      size_t space = kChunkBytes + kAlignment;
      chunk = static_cast<std::byte*>(std::align(kAlignment, kChunkBytes, at, space));
      return true;
    }
  };
  Buffer now;
  Buffer ahead;  // only if somebody reads ahead
  size_t unread = 0;
  int64_t received = 0;  // bytes committed
  int64_t expected = 0;
  int64_t trailing = 0;        // bytes behind STOP
  int64_t trailing_data = -1;  // offset of the first one that is not zero
  void look_behind_stop(std::span<const std::byte> bytes, int64_t offset) {
    trailing += static_cast<int64_t>(bytes.size());
    if (trailing_data >= 0) return;
    const auto* data = std::find_if(bytes.data(), bytes.data() + bytes.size(),
                                    [](std::byte b) { return b != std::byte{0}; });
    if (data != bytes.data() + bytes.size()) trailing_data = offset + (data - bytes.data());
  }

  [[nodiscard]] std::string size_that_would_work() const {
    const Budget& budget = recording.budget;
    double needed = static_cast<double>(std::max(budget.needed(), budget.limit()));
    if (const int64_t at = machine->halt_offset(); at > 0 && expected > at) {
      needed = std::max(needed, static_cast<double>(budget.used()) * static_cast<double>(expected) /
                                    static_cast<double>(at));
    }
    constexpr double kMargin = 1.1;
    const auto enough = static_cast<int64_t>(std::min(needed * kMargin, 9.0e18));
    return fmt::format("{} are allowed, about {} would be enough", size_text(budget.limit()),
                       size_text(enough));
  }

  void tell_how_it_ended() {
    model::Diagnostics& diagnostics = recording.diagnostics;
    switch (machine->halt()) {
      case Halt::stop:
        if (trailing_data >= 0 || trailing > kPaddingBytes) {
          diagnostics.add(Diag::trailing_bytes, machine->halt_offset() + 1, count_text(trailing) + " bytes");
        }
        break;
      case Halt::ended:
        diagnostics.add(Diag::truncated, machine->halt_offset(), machine->halt_text());
        break;
      case Halt::out_of_budget:
        diagnostics.add(Diag::budget_exhausted, machine->halt_offset(), size_that_would_work());
        break;
      default:
        diagnostics.add(Diag::damaged, machine->halt_offset(), machine->halt_text());
    }
  }

  [[nodiscard]] Status too_little_memory() const {
    return fail(ErrorCode::limit_exceeded, machine->halt_offset(),
                "the memory for this file does not suffice: {}", size_that_would_work());
  }

  [[nodiscard]] Status nothing_to_show(const values::Value& result) const {
    const int64_t at = machine->halt_offset();
    switch (machine->halt()) {
      case Halt::ended:
        if (received == 0) return fail(ErrorCode::truncated, 0, "the file is empty");
        return fail(ErrorCode::truncated, at, "{}, and nothing of a memory snapshot came before it",
                    machine->halt_text());
      case Halt::out_of_budget:
        return too_little_memory();
      case Halt::stop:
        break;
      default:
        return fail(ErrorCode::invalid_format, at,
                    "the pickle is damaged ({}), and nothing of a memory snapshot came before that",
                    machine->halt_text());
    }
    const std::string holds = utf8::sanitized(schema->description(result));
    if (machine->first_global().empty()) {
      return fail(ErrorCode::unsupported, -1, "not a memory snapshot: the pickle holds {}", holds);
    }
    return fail(ErrorCode::unsupported, machine->first_global_offset(),
                "not a memory snapshot: the pickle holds {}; it refers to {}", holds,
                utf8::sanitized(machine->first_global()));
  }
};

TorchSnapshotReader::TorchSnapshotReader(model::Recording& recording, Way way)
    : state_(std::make_unique<State>(recording, way, true)) {}

TorchSnapshotReader::TorchSnapshotReader(model::Recording& recording, LeftOpen)
    : state_(std::make_unique<State>(recording, Way::fast, false)) {}

TorchSnapshotReader::~TorchSnapshotReader() = default;

void TorchSnapshotReader::expect_bytes(int64_t total) {
  state_->expected = total;
  if (!state_->machine) return;
  state_->schema->expect_bytes(total);
  state_->machine->expect_bytes(total);
}

bool TorchSnapshotReader::done() const { return !state_->machine || state_->machine->halt() != Halt::none; }

std::span<std::byte> TorchSnapshotReader::writable() {
  State& s = *state_;
  if (!s.machine) return {};
  if (!s.now.make()) {
    s.recording.budget.note_refusal(static_cast<int64_t>(kGapBytes + kChunkBytes));
    return {};
  }
  return {s.now.chunk, kChunkBytes};
}

std::span<std::byte> TorchSnapshotReader::writable_ahead() {
  State& s = *state_;
  if (!s.machine || !s.now.make() || !s.ahead.make()) return {};
  return {s.ahead.chunk, kChunkBytes};
}

Status TorchSnapshotReader::commit(size_t bytes) {
  State& s = *state_;
  if (!s.machine) return {};
  if (s.now.chunk == nullptr || bytes > kChunkBytes) {
    return fail(ErrorCode::limit_exceeded, s.received, "no memory for reading ({} needed)",
                size_text(static_cast<int64_t>(kChunkBytes)));
  }
  if (!s.schema->is_ready()) return s.too_little_memory();
  const int64_t start = s.received;
  s.received += static_cast<int64_t>(bytes);
  const std::byte* const chunk = s.now.chunk;
  if (s.ahead.chunk != nullptr) std::swap(s.now, s.ahead);
  if (s.machine->halt() == Halt::stop) s.look_behind_stop({chunk, bytes}, start);
  if (s.machine->halt() != Halt::none) return {};

  const std::span<const std::byte> ready{chunk - s.unread, s.unread + bytes};
  const size_t used = s.machine->run(ready, start - static_cast<int64_t>(s.unread));
  switch (s.machine->halt()) {
    case Halt::none:
      s.unread = ready.size() - used;
      if (s.unread > kGapBytes) return fail(ErrorCode::internal, start, "an opcode of {} bytes", s.unread);
      std::memmove(s.now.chunk - s.unread, ready.data() + used, s.unread);
      break;
    case Halt::stop:
      s.look_behind_stop(ready.subspan(used), s.machine->halt_offset() + 1);
      break;
    case Halt::unsupported:
      return fail(ErrorCode::unsupported, s.machine->halt_offset(), "{}", s.machine->halt_text());
    default:
      break;  // what was read before can be shown; `finish` tells
  }
  return {};
}

Status TorchSnapshotReader::finish() {
  State& s = *state_;
  if (!s.machine) return {};
  if (!s.schema->is_ready()) return s.too_little_memory();
  if (s.machine->halt() == Halt::none) s.machine->end_of_input(s.received);
  if (s.machine->halt() == Halt::unsupported) {
    return fail(ErrorCode::unsupported, s.machine->halt_offset(), "{}", s.machine->halt_text());
  }
  const values::Value result = s.machine->result();
  const bool whole = s.machine->halt() == Halt::stop;
  const bool found = s.schema->publish(result, !whole);
  s.recording.input_bytes = s.received;
  if (!found) return s.nothing_to_show(result);
  s.tell_how_it_ended();
  s.machine.reset();  // the memo and the buffer are as large as a small file
  s.entries.reset();
  s.schema.reset();
  s.now = {};
  s.ahead = {};
  if (s.seals) s.recording.seal();
  return {};
}

}  // namespace memstrata::io
