#include "engine/io/readers/series/telemetry.h"

#include "engine/io/encodings/json/input.h"
#include "engine/io/readers/series/telemetry_schema.h"

namespace gpustrata::io {

struct TelemetryReader::State {
  explicit State(model::Recording& to)
      : recording(to), schema(to), input(to, schema, "telemetry of gpumemprof") {}

  model::Recording& recording;
  TelemetrySchema schema;
  json::Input input;
};

TelemetryReader::TelemetryReader(model::Recording& recording, LeftOpen)
    : state_(std::make_unique<State>(recording)) {}

TelemetryReader::~TelemetryReader() = default;

void TelemetryReader::expect_bytes(int64_t total) { state_->input.expect_bytes(total); }
bool TelemetryReader::done() const { return state_->input.done(); }
std::span<std::byte> TelemetryReader::writable() { return state_->input.writable(); }
Status TelemetryReader::commit(size_t bytes) { return state_->input.commit(bytes); }

Status TelemetryReader::finish() {
  json::Input& input = state_->input;
  input.end();
  TelemetryRows& rows = state_->schema.rows();
  if (rows.is_empty() && !input.is_whole()) return input.nothing_to_show("no sample");
  if (!rows.publish())
    state_->recording.diagnostics.add(model::Diag::budget_exhausted, -1, "no memory for the samples");
  state_->recording.input_bytes = input.received();
  input.tell_how_it_ended();
  return {};
}

}  // namespace gpustrata::io
