#include "engine/io/readers/snapshot/torch_snapshot.h"

#include "engine/io/encodings/pickle/input.h"
#include "engine/io/readers/snapshot/event_entries.h"
#include "engine/io/readers/snapshot/snapshot_schema.h"

namespace gpustrata::io {

struct TorchSnapshotReader::State {
  State(model::Recording& recording, Way way) : schema(recording), input(recording, schema) {
    if (way == Way::plain) return;
    entries = std::make_unique<EventEntries>(schema, recording);
    input.use(entries.get());
  }

  SnapshotSchema schema;
  std::unique_ptr<EventEntries> entries;
  pickle::Input input;
};

TorchSnapshotReader::TorchSnapshotReader(model::Recording& recording, Way way)
    : recording_(recording), seals_(true), state_(std::make_unique<State>(recording, way)) {}

TorchSnapshotReader::TorchSnapshotReader(model::Recording& recording, LeftOpen)
    : recording_(recording), seals_(false), state_(std::make_unique<State>(recording, Way::fast)) {}

TorchSnapshotReader::~TorchSnapshotReader() = default;

void TorchSnapshotReader::expect_bytes(int64_t total) {
  if (!state_) return;
  state_->schema.expect_bytes(total);
  state_->input.expect_bytes(total);
}

bool TorchSnapshotReader::done() const { return !state_ || state_->input.done(); }

std::span<std::byte> TorchSnapshotReader::writable() {
  return state_ ? state_->input.writable() : std::span<std::byte>{};
}

std::span<std::byte> TorchSnapshotReader::writable_ahead() {
  return state_ ? state_->input.writable_ahead() : std::span<std::byte>{};
}

Status TorchSnapshotReader::commit(size_t bytes) {
  if (!state_) return {};
  if (!state_->schema.is_ready()) return state_->input.too_little_memory();
  return state_->input.commit(bytes);
}

Status TorchSnapshotReader::finish() {
  if (!state_) return {};
  pickle::Input& input = state_->input;
  SnapshotSchema& schema = state_->schema;
  if (!schema.is_ready()) return input.too_little_memory();
  if (Status ended = input.end(); !ended) return ended;
  const values::Value result = input.result();
  const bool found = schema.publish(result, !input.is_whole());
  recording_.input_bytes = input.received();
  if (!found) return input.nothing_to_show(schema.description(result));
  input.tell_how_it_ended();
  state_.reset();  // the memo and the buffer are as large as a small file
  if (seals_) recording_.seal();
  return {};
}

}  // namespace gpustrata::io
