// What the containers of a MemoryTracker's pickle mean; see memory_tracker.h.
#pragma once

#include <array>
#include <span>
#include <string>

#include "engine/io/readers/series/memory_tracker.h"
#include "engine/io/values/schema.h"

namespace gpustrata::io {

class MemoryTrackerSchema final : public values::Schema {
 public:
  using Value = values::Value;

  explicit MemoryTrackerSchema(model::Recording& recording);

  [[nodiscard]] Value finish_dict(std::span<const Value> pairs, const values::Ending& ending) override;
  [[nodiscard]] Value finish_list(std::span<const Value> items, const values::Ending& ending) override;

  // Makes what `result` holds a part of the recording. False: it holds none of the tables; or memory was refused,
  // which is counted.
  [[nodiscard]] bool publish(const Value& result);

 private:
  // A name and a number: (operator, MiB).
  struct Sample {
    StringId name;
    int64_t bytes;
  };
  // An entry of a table: an operator and row of samples_; a marker and its operator.
  struct Entry {
    int64_t op;
    uint32_t sample;  // of a marker: the id of its name
  };

  [[nodiscard]] Value table(std::span<const Value> pairs, bool are_markers);
  [[nodiscard]] Value outermost(std::span<const Value> pairs);
  [[nodiscard]] int64_t bytes_of(const Value& mebibytes);
  // In order of operators, each once.
  [[nodiscard]] std::span<Entry> entries_of(const Value& table);
  [[nodiscard]] bool add_series(std::string_view name, std::span<const Entry> entries, bool has_labels);
  [[nodiscard]] bool add_markers(std::span<Entry> entries);
  void compare_numbers(std::span<const Entry> first, std::span<const Entry> other);
  [[nodiscard]] std::string_view view(const Value& text) const {
    return recording_.strings.view(StringId{static_cast<size_t>(text.id)});
  }

  model::Recording& recording_;
  int64_t offset_ = 0;  // of what is read
  Column<Sample> samples_{recording_.budget};
  Column<Entry> entries_{recording_.budget};
  Column<model::RowRange> tables_{recording_.budget};  // ranges of entries_
  std::array<Value, std::size(kTrackerTables)> found_{};
  Value markers_;
  Value retries_;
};

}  // namespace gpustrata::io
