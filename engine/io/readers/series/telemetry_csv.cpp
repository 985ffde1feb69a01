#include "engine/io/readers/series/telemetry_csv.h"

#include <algorithm>

#include "engine/base/json_number.h"
#include "engine/base/units.h"
#include "engine/io/containers/input_buffer.h"
#include "engine/io/encodings/csv/records.h"
#include "engine/io/readers/series/telemetry_schema.h"
#include "engine/io/values/numbers.h"

namespace gpustrata::io {

using model::Diag;
using values::Tag;
using values::Value;

namespace {

// Columns of which one is in every such table.
constexpr std::string_view kTelling[] = {"allocator_allocated_bytes", "memory_allocated", "memory_mb",
                                         "allocated_memory", "function_name"};
constexpr size_t kLongestNumber = 64;

}  // namespace

bool begins_telemetry_csv(std::string_view text) {
  text = text.substr(0, text.find_first_of("\r\n"));
  bool has_more_columns = false, tells = false;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view column = text.substr(0, comma);
    if (column.size() >= 2 && column.front() == '"' && column.back() == '"')
      column = column.substr(1, column.size() - 2);
    has_more_columns = has_more_columns || comma < text.size();
    tells = tells || std::find(std::begin(kTelling), std::end(kTelling), column) != std::end(kTelling);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return tells && has_more_columns;
}

struct TelemetryCsvReader::State {
  explicit State(model::Recording& to)
      : recording(to),
        schema(to),
        records(to.diagnostics, [this](const auto& fields, int64_t offset) { return take(fields, offset); }) {
  }

  // False: memory was refused.
  [[nodiscard]] bool take(const std::vector<std::string>& fields, int64_t offset) {
    if (header.empty()) {
      for (const std::string& name : fields) {
        const StringId id = recording.strings.intern(name);
        if (id.is_none()) return refuse();
        header.push_back({Tag::string, static_cast<uint32_t>(id.value), 0});
      }
      return true;
    }
    if (fields.size() != header.size())
      recording.diagnostics.add(Diag::lists_differ, offset, "cells of a line");
    pairs.clear();
    for (size_t i = 0; i < std::min(fields.size(), header.size()); ++i) {
      const auto value = value_of(fields[i]);
      if (!value) return refuse();
      pairs.push_back(header[i]);
      pairs.push_back(*value);
    }
    return schema.finish_dict(pairs, {offset, false, false}).tag != Tag::undefined || refuse();
  }
  [[nodiscard]] std::optional<Value> value_of(std::string_view field) {
    if (field.empty() || field == "None") return Value{Tag::none, 0, 0};
    if (field.size() <= kLongestNumber) {
      const JsonNumber number = json_number(field);
      if (number.length == field.size()) {
        if (const auto value = number.whole ? values::integer_of_text(field) : values::real_of_text(field))
          return *value;
      }
      if (field == "nan" || field == "inf" || field == "-inf") return values::real_of_text(field);
    }
    const StringId id = recording.strings.intern(field);
    if (id.is_none()) return std::nullopt;
    return Value{Tag::string, static_cast<uint32_t>(id.value), 0};
  }
  [[nodiscard]] bool refuse() {
    refused = true;
    return false;
  }

  model::Recording& recording;
  TelemetrySchema schema;
  csv::Records records;
  InputBuffer buffer;
  std::vector<Value> header, pairs;
  int64_t received = 0;
  bool refused = false;
};

TelemetryCsvReader::TelemetryCsvReader(model::Recording& recording, LeftOpen)
    : state_(std::make_unique<State>(recording)) {}

TelemetryCsvReader::~TelemetryCsvReader() = default;

void TelemetryCsvReader::expect_bytes(int64_t /*total*/) {}
bool TelemetryCsvReader::done() const { return state_->records.is_stopped(); }
std::span<std::byte> TelemetryCsvReader::writable() { return state_->buffer.writable(); }

Status TelemetryCsvReader::commit(size_t bytes) {
  const std::span<const std::byte> chunk = state_->buffer.first(bytes);
  state_->records.read({reinterpret_cast<const char*>(chunk.data()), chunk.size()}, state_->received);
  state_->received += static_cast<int64_t>(bytes);
  return {};
}

Status TelemetryCsvReader::finish() {
  State& s = *state_;
  model::Diagnostics& diagnostics = s.recording.diagnostics;
  if (!s.records.end()) diagnostics.add(Diag::truncated, s.received, "the text ends inside of quotes");
  if (!s.schema.rows().publish() || s.refused)
    diagnostics.add(Diag::budget_exhausted, -1, "a budget of " + size_text(s.recording.budget.limit()));
  s.recording.input_bytes = s.received;
  return {};
}

}  // namespace gpustrata::io
