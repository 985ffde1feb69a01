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

namespace {

class TelemetryCsvReader final : public Reader {
 public:
  explicit TelemetryCsvReader(model::Recording& to)
      : recording_(to), schema_(to), records_(to.diagnostics, [this](const auto& fields, int64_t offset) {
          return take(fields, offset);
        }) {}

  [[nodiscard]] std::span<std::byte> writable() override { return buffer_.writable(); }

  [[nodiscard]] Status commit(size_t bytes) override {
    const std::span<const std::byte> chunk = buffer_.first(bytes);
    records_.read({reinterpret_cast<const char*>(chunk.data()), chunk.size()}, received_);
    received_ += static_cast<int64_t>(bytes);
    return {};
  }

  [[nodiscard]] Status finish() override {
    model::Diagnostics& diagnostics = recording_.diagnostics;
    if (!records_.end()) diagnostics.add(Diag::truncated, received_, "the text ends inside of quotes");
    if (!schema_.rows().publish() || refused_)
      diagnostics.add(Diag::budget_exhausted, -1, "a budget of " + size_text(recording_.budget.limit()));
    recording_.input_bytes = received_;
    return {};
  }

  [[nodiscard]] bool done() const override { return records_.is_stopped(); }
  [[nodiscard]] std::string format() const override { return "csv"; }

 private:
  // False: memory was refused.
  [[nodiscard]] bool take(const std::vector<std::string>& fields, int64_t offset) {
    if (header_.empty()) {
      for (const std::string& name : fields) {
        const StringId id = recording_.strings.intern(name);
        if (id.is_none()) return refuse();
        header_.push_back({Tag::string, static_cast<uint32_t>(id.value), 0});
      }
      return true;
    }
    if (fields.size() != header_.size())
      recording_.diagnostics.add(Diag::lists_differ, offset, "cells of a line");
    pairs_.clear();
    for (size_t i = 0; i < std::min(fields.size(), header_.size()); ++i) {
      const auto value = value_of(fields[i]);
      if (!value) return refuse();
      pairs_.push_back(header_[i]);
      pairs_.push_back(*value);
    }
    return schema_.finish_dict(pairs_, {offset, false, false}).tag != Tag::undefined || refuse();
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
    const StringId id = recording_.strings.intern(field);
    if (id.is_none()) return std::nullopt;
    return Value{Tag::string, static_cast<uint32_t>(id.value), 0};
  }
  [[nodiscard]] bool refuse() {
    refused_ = true;
    return false;
  }

  model::Recording& recording_;
  TelemetrySchema schema_;
  csv::Records records_;
  InputBuffer buffer_;
  std::vector<Value> header_, pairs_;
  int64_t received_ = 0;
  bool refused_ = false;
};

}  // namespace

std::unique_ptr<Reader> telemetry_csv_reader(model::Recording& recording) {
  return std::make_unique<TelemetryCsvReader>(recording);
}

}  // namespace gpustrata::io
