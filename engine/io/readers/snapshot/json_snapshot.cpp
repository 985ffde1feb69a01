#include "engine/io/readers/snapshot/json_snapshot.h"

#include "engine/io/encodings/json/input.h"
#include "engine/io/readers/snapshot/snapshot_schema.h"

namespace gpustrata::io {

struct JsonSnapshotReader::State {
  explicit State(model::Recording& recording) : schema(recording), input(recording, schema) {}

  SnapshotSchema schema;
  json::Input input;
};

JsonSnapshotReader::JsonSnapshotReader(model::Recording& recording)
    : recording_(recording), seals_(true), state_(std::make_unique<State>(recording)) {}

JsonSnapshotReader::JsonSnapshotReader(model::Recording& recording, LeftOpen)
    : recording_(recording), seals_(false), state_(std::make_unique<State>(recording)) {}

JsonSnapshotReader::~JsonSnapshotReader() = default;

void JsonSnapshotReader::expect_bytes(int64_t total) {
  if (!state_) return;
  state_->schema.expect_bytes(total);
  state_->input.expect_bytes(total);
}

bool JsonSnapshotReader::done() const { return !state_ || state_->input.done(); }

std::span<std::byte> JsonSnapshotReader::writable() {
  return state_ ? state_->input.writable() : std::span<std::byte>{};
}

Status JsonSnapshotReader::commit(size_t bytes) {
  if (!state_) return {};
  if (!state_->schema.is_ready()) return state_->input.too_little_memory();
  return state_->input.commit(bytes);
}

Status JsonSnapshotReader::finish() {
  if (!state_) return {};
  json::Input& input = state_->input;
  SnapshotSchema& schema = state_->schema;
  if (!schema.is_ready()) return input.too_little_memory();
  input.end();
  const bool found = schema.publish(input.result(), !input.is_whole());
  recording_.input_bytes = input.received();
  if (!found) return input.nothing_to_show(schema.description(input.result()));
  input.tell_how_it_ended();
  state_.reset();
  if (seals_) recording_.seal();
  return {};
}

}  // namespace gpustrata::io
