#include "engine/io/readers/series/telemetry.h"

#include "engine/io/encodings/json/input.h"
#include "engine/io/readers/series/telemetry_schema.h"
#include "engine/io/readers/values_reader.h"

namespace gpustrata::io {

namespace {

class TelemetryReader final : public ValuesReader<json::Input, TelemetrySchema> {
 public:
  explicit TelemetryReader(model::Recording& recording)
      : ValuesReader(recording, "telemetry of gpumemprof") {}

  [[nodiscard]] Status finish() override {
    if (Status ended = input_.end(); !ended) return ended;
    TelemetryRows& rows = schema_.rows();
    if (rows.is_empty() && !input_.is_whole()) return input_.nothing_to_show("no sample");
    if (!rows.publish())
      recording_.diagnostics.add(model::Diag::budget_exhausted, -1, "no memory for the samples");
    recording_.input_bytes = input_.received();
    input_.tell_how_it_ended();
    return {};
  }
};

}  // namespace

std::unique_ptr<Reader> telemetry_reader(model::Recording& recording) {
  return std::make_unique<TelemetryReader>(recording);
}

}  // namespace gpustrata::io
