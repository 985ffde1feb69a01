// What the dicts of a telemetry file mean; a line of CSV is a dict, too. See telemetry.h for the forms.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/io/readers/series/telemetry_rows.h"
#include "engine/io/values/schema.h"

namespace gpustrata::io {

class TelemetrySchema final : public values::Schema {
 public:
  using Value = values::Value;
  using Pairs = std::span<const Value>;  // key value key value ...

  explicit TelemetrySchema(model::Recording& recording);

  [[nodiscard]] Value finish_dict(Pairs pairs, const values::Ending& ending) override;
  [[nodiscard]] Value finish_list(std::span<const Value> items, const values::Ending& ending) override;

  [[nodiscard]] TelemetryRows& rows() { return rows_; }

 private:
  [[nodiscard]] const Value* find(Pairs pairs, std::string_view key) const;
  [[nodiscard]] bool has(Pairs pairs, std::string_view key) const { return find(pairs, key) != nullptr; }
  [[nodiscard]] std::string_view view(const Value& text) const {
    return recording_.strings.view(StringId{static_cast<size_t>(text.id)});
  }
  // None: absent, null, or of another type, which is counted.
  [[nodiscard]] std::optional<int64_t> bytes(Pairs pairs, std::string_view key, bool is_signed = false);
  [[nodiscard]] std::optional<int64_t> seconds(Pairs pairs, std::string_view key);
  [[nodiscard]] std::optional<int64_t> whole(const Value& value, double scale);
  [[nodiscard]] StringId text(Pairs pairs, std::string_view key);
  [[nodiscard]] int32_t device(Pairs pairs);
  [[nodiscard]] StringId as_json(const Value& value);
  [[nodiscard]] StringId as_number(const Value& value);

  [[nodiscard]] Value record(Pairs pairs);
  [[nodiscard]] Value snapshot(Pairs pairs);
  [[nodiscard]] Value result(Pairs pairs);
  [[nodiscard]] Value timeline(Pairs pairs);
  [[nodiscard]] Value facts(Pairs pairs);
  [[nodiscard]] Value json_of(Pairs pairs);
  [[nodiscard]] bool keep_others(Pairs pairs, std::span<const std::string_view> known);
  [[nodiscard]] Value sample_row(TelemetryRows::Sample sample);

  model::Recording& recording_;
  TelemetryRows rows_;
  int64_t offset_ = 0;
  Column<double> numbers_{recording_.budget};         // of lists of numbers, NaN = none
  Column<model::RowRange> lists_{recording_.budget};  // ranges of numbers_
  int64_t text_bytes_ = 0;                            // JSON text produced so far
};

}  // namespace gpustrata::io
