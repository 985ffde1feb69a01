// Arrow arrays out of the engine's columns: as they lie in memory where rows follow each other, else gathered.
//
// Buffers that are made are charged to the recording's budget. When it refuses, failed() is true from then on
// and what was built is of no use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/python/native/table.h"
#include "engine/base/column.h"
#include "engine/model/recording.h"

namespace memstrata::python {

// Some rows of a table of the model: a range of them, or a list.
struct Rows {
  model::RowRange range;
  std::span<const int32_t> list = {};  // instead of the range, if it is not empty

  [[nodiscard]] size_t count() const { return list.empty() ? static_cast<size_t>(range.count) : list.size(); }
  [[nodiscard]] size_t operator[](size_t i) const {
    return list.empty() ? static_cast<size_t>(range.first) + i : static_cast<size_t>(list[i]);
  }
  [[nodiscard]] bool is_range() const { return list.empty(); }
};

class TableBuilder {
 public:
  TableBuilder(const model::Recording& recording, std::shared_ptr<Table> table)
      : recording_(recording), budget_(recording.budget), table_(std::move(table)) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const model::Recording& recording() const { return recording_; }

  // -- A batch: its columns in the order of the schema, which the first batch decides.
  void begin_batch(size_t rows);
  void add(Field field, Array array);
  void end_batch();
  // After the last batch.
  void finish();

  // -- Buffers.
  // Lives as long as the table.
  template <typename T>
  T* keep(Column<T>&& column) {
    auto kept = std::make_shared<Column<T>>(std::move(column));
    T* data = kept->data();
    table_->owned.push_back(std::move(kept));
    return data;
  }
  void keep(std::shared_ptr<void> thing) { table_->owned.push_back(std::move(thing)); }
  // An array of `count` values made by value(i); `T` is as large as its Arrow type.
  template <typename T, typename Value>
  [[nodiscard]] Array made(size_t count, Value&& value) {
    Column<T> column(budget_);
    if (!column.reserve(count)) return refuse();
    for (size_t i = 0; i < count; ++i) (void)column.push_back(value(i));
    return flat(count, keep(std::move(column)));
  }
  // The rows of a column.
  template <typename T>
  [[nodiscard]] Array rows_of(const Column<T>& column, const Rows& rows) {
    if (rows.is_range()) return flat(rows.count(), column.data() + rows.range.first);
    return made<T>(rows.count(), [&](size_t i) { return column[rows[i]]; });
  }
  // Row i is null where is_null(i).
  template <typename IsNull>
  void set_nulls(Array& array, IsNull&& is_null) {
    const auto count = static_cast<size_t>(array.length);
    size_t first = 0;
    while (first < count && !is_null(first)) ++first;
    if (first == count) return;
    Column<uint8_t> bits(budget_);
    if (!bits.resize((count + 7) / 8, uint8_t{0})) return (void)refuse();
    int64_t nulls = 0;
    for (size_t i = 0; i < count; ++i) {
      if (is_null(i)) {
        ++nulls;
      } else {
        bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | (1U << (i % 8)));
      }
    }
    array.nulls = nulls;
    array.buffers.front() = keep(std::move(bits));
  }

  // -- Columns of this project's types.
  // Ids as int32 or int16 numbers; null = none.
  template <typename T>
  void add_ids(std::string name, const Column<T>& ids, const Rows& rows) {
    Array array = rows_of(ids, rows);
    set_nulls(array, [&](size_t i) { return ids[rows[i]].is_none(); });
    add({std::move(name), "i", true, {}, {}}, std::move(array));
  }
  void add_int64(std::string name, const Column<int64_t>& values, const Rows& rows);
  // Null where it is `none`.
  void add_known(std::string name, const Column<int64_t>& values, const Rows& rows, int64_t none);
  void add_addresses(std::string name, const Column<uint64_t>& values, const Rows& rows);
  void add_constant(std::string name, int32_t value, size_t rows);
  // Microseconds since the epoch.
  void add_times(std::string name, const Column<int64_t>& times, const Rows& rows, const model::Part& part);
  void add_streams(std::string name, const Column<StreamId>& ids, const Rows& rows);
  // "graph:user"; null = unknown.
  void add_pools(std::string name, const Column<PoolId>& ids, const Rows& rows);
  // Texts of the file, with U+FFFD for what is not UTF-8; null = none.
  void add_texts(std::string name, const Column<StringId>& ids, const Rows& rows);
  // Bytes that count words; null where `none`, if that is given.
  template <typename Word>
  void add_words(std::string name, const Column<Word>& column, const Rows& rows,
                 std::span<const std::string_view> words, int none = -1) {
    Array array = rows_of(column, rows);
    if (none >= 0) set_nulls(array, [&](size_t i) { return static_cast<int>(column[rows[i]]) == none; });
    array.dictionary.push_back(texts(words));
    add(dictionary_field(std::move(name), "c", none >= 0), std::move(array));
  }

  // An array of texts.
  [[nodiscard]] Array texts(std::span<const std::string_view> texts);
  [[nodiscard]] static Field dictionary_field(std::string name, std::string format, bool nullable);
  [[nodiscard]] static Array flat(size_t count, const void* data);
  // Values of the file's texts that are counted, first seen first. One for all batches of a table.
  class CountedTexts {
   public:
    CountedTexts(const model::Recording& recording) : index_(recording.budget) {}
    // -1: the budget refuses.
    [[nodiscard]] int32_t index_of(const model::Recording& recording, StringId text);
    [[nodiscard]] const std::vector<std::string_view>& views() const { return views_; }

   private:
    Column<int32_t> index_;  // by StringId; -1 = not yet
    std::vector<std::string_view> views_;
  };

  // Marks the table as failed.
  Array refuse() {
    failed_ = true;
    return {};
  }

 private:
  struct Texts {
    size_t column;
    CountedTexts counted;
  };

  const model::Recording& recording_;
  Budget& budget_;
  std::shared_ptr<Table> table_;
  Array batch_;
  std::vector<Field> fields_;  // of the batch
  std::vector<Texts> texts_;   // columns whose dictionaries are not there yet
  bool failed_ = false;
};

}  // namespace memstrata::python
