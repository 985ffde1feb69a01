// Arrow arrays out of the engine's columns: as they lie in memory where rows follow each other, else gathered.
//
// A table is kept as a whole, or goes batch by batch to whoever takes them and is never there as a whole.
// Buffers that are made are charged to the recording's budget. When it refuses, or the taker fails, stopped() is true
// from then on and what was built is of no use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/arrow/table.h"
#include "engine/base/column.h"
#include "engine/base/packed_column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::arrow {

// Some rows of a table of the model: a range of them, or a list.
struct Rows {
  model::RowRange range = {};
  std::span<const int32_t> list = {};  // instead of the range, if it is not empty

  [[nodiscard]] size_t count() const { return list.empty() ? static_cast<size_t>(range.count) : list.size(); }
  [[nodiscard]] size_t operator[](size_t i) const {
    return list.empty() ? static_cast<size_t>(range.first) + i : static_cast<size_t>(list[i]);
  }
  [[nodiscard]] bool is_range() const { return list.empty(); }
  [[nodiscard]] Rows part(size_t first, size_t count) const {
    if (!is_range()) return {{}, list.subspan(first, count)};
    return {{range.first + static_cast<int32_t>(first), static_cast<int32_t>(count)}};
  }
};

// Gets the batches of a table, one after the other.
class BatchSink {
 public:
  virtual ~BatchSink() = default;
  // The table has its schema; of its dictionaries some may be missing until the last batch was taken. What the batch
  // points to is gone afterwards.
  [[nodiscard]] virtual Status take(const std::shared_ptr<const Table>& table, const Array& batch) = 0;
};

class TableBuilder {
 public:
  // Rows that one batch has at most where batches go to a sink. A multiple of 8: bits of a batch begin with a byte.
  static constexpr size_t kBatchRows = size_t{1} << 16;

  // With a sink the table keeps its schema and its dictionaries only.
  TableBuilder(const model::Recording& recording, std::shared_ptr<Table> table, BatchSink* sink = nullptr)
      : recording_(recording), budget_(recording.budget), table_(std::move(table)), sink_(sink) {}

  [[nodiscard]] const model::Recording& recording() const { return recording_; }
  [[nodiscard]] bool stopped() const { return !status_; }
  // Why. Error: limit_exceeded, what the sink says.
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] bool has_batches() const { return has_batches_; }
  [[nodiscard]] bool is_streamed() const { return sink_ != nullptr; }
  // Calls add(first, count) for pieces of `count` rows that a batch may have; once for no rows if there is no batch
  // yet, so that every table has its columns.
  template <typename Add>
  void in_pieces(size_t count, Add&& add) {
    if (count == 0 && !has_batches_) add(size_t{0}, size_t{0});
    const size_t most = is_streamed() ? kBatchRows : count;
    for (size_t first = 0; first < count && !stopped(); first += most)
      add(first, std::min(count - first, most));
  }

  // -- Dictionaries, made before the first batch that names them.
  [[nodiscard]] int32_t words(std::span<const std::string_view> texts);
  // Texts of the file, which get their numbers as rows name them.
  [[nodiscard]] int32_t counted_texts();
  // To be filled in any time before finish().
  [[nodiscard]] int32_t later();
  void fill(int32_t dictionary, std::span<const std::string_view> texts);

  // -- A batch: its columns in the order of the schema, which the first batch decides.
  // From now on a column of texts comes first, the same in all rows of a batch.
  void lead_with(std::string name, int32_t dictionary);
  void set_lead(int32_t index) { lead_index_ = index; }
  void begin_batch(size_t rows);
  void add(Field field, Array array);
  void end_batch();
  // After the last batch.
  void finish();

  // -- Buffers.
  // Lives as long as the batch.
  template <typename T>
  T* keep(Column<T>&& column) {
    auto kept = std::make_shared<Column<T>>(std::move(column));
    T* data = kept->data();
    keep(std::move(kept));
    return data;
  }
  void keep(std::shared_ptr<void> thing) { owned_.push_back(std::move(thing)); }
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
  template <typename T>
  [[nodiscard]] Array rows_of(const PackedColumn<T>& column, const Rows& rows) {
    return made<T>(rows.count(), [&](size_t i) { return column[rows[i]]; });
  }
  // Row i is null where is_null(i).
  template <typename IsNull>
  void set_nulls(Array& array, IsNull&& is_null) {
    const auto count = static_cast<size_t>(array.length);
    size_t first = 0;
    while (first < count && !is_null(first)) ++first;
    if (first == count) return;
    int64_t nulls = 0;
    array.buffers.front() = bits(count, [&](size_t i) {
      const bool null = is_null(i);
      nulls += null ? 1 : 0;
      return !null;
    });
    array.nulls = nulls;
  }
  // As Arrow keeps truth. Null if the budget refuses.
  template <typename IsTrue>
  [[nodiscard]] const void* bits(size_t count, IsTrue&& is_true) {
    Column<uint8_t> bits(budget_);
    if (!bits.resize((count + 7) / 8, uint8_t{0})) {
      refuse();
      return nullptr;
    }
    for (size_t i = 0; i < count; ++i) {
      if (is_true(i)) bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | (1U << (i % 8)));
    }
    return keep(std::move(bits));
  }
  [[nodiscard]] static Array flat(size_t count, const void* data);
  // An array of texts, with U+FFFD for what is not UTF-8.
  [[nodiscard]] Array texts(std::span<const std::string_view> texts);

  // -- Columns of this project's types: each a Column or a PackedColumn.
  // Ids as int32 or int16 numbers; null = none.
  template <typename Ids>
  void add_ids(std::string name, const Ids& ids, const Rows& rows) {
    Array array = rows_of(ids, rows);
    set_nulls(array, [&](size_t i) { return ids[rows[i]].is_none(); });
    add({std::move(name), "i", true}, std::move(array));
  }
  template <typename Values>
  void add_int64(std::string name, const Values& values, const Rows& rows) {
    add({std::move(name), "l"}, rows_of(values, rows));
  }
  // Null where it is `none`.
  void add_known(std::string name, const Column<int64_t>& values, const Rows& rows, int64_t none);
  void add_addresses(std::string name, const Column<uint64_t>& values, const Rows& rows);
  void add_constant(std::string name, int32_t value, size_t rows);
  // Microseconds since the epoch.
  void add_times(std::string name, const PackedColumn<int64_t>& times, const Rows& rows,
                 const model::Part& part);
  template <typename Ids>
  void add_streams(std::string name, const Ids& ids, const Rows& rows);
  // "graph:user"; null = unknown. `pools`: pool_names().
  template <typename Ids>
  void add_pools(std::string name, const Ids& ids, const Rows& rows, int32_t pools);
  [[nodiscard]] int32_t pool_names();
  // Texts of the file; null = none. `dictionary`: of counted_texts(), for this column alone.
  template <typename Ids>
  void add_texts(std::string name, const Ids& ids, const Rows& rows, int32_t dictionary);
  // The number of a text in such a dictionary; -1: stopped.
  [[nodiscard]] int32_t number_of(int32_t dictionary, StringId text);
  // Bytes that count words; null where `none`, if that is given.
  template <typename Word>
  void add_words(std::string name, const Column<Word>& column, const Rows& rows, int32_t dictionary,
                 int none = -1) {
    Array array = rows_of(column, rows);
    if (none >= 0) set_nulls(array, [&](size_t i) { return static_cast<int>(column[rows[i]]) == none; });
    add({std::move(name), "c", none >= 0, {}, dictionary}, std::move(array));
  }

  // Stops: no memory.
  Array refuse();
  void stop(Error error) {
    if (status_) status_ = tl::unexpected(std::move(error));
  }

 private:
  // Values of the file's texts that are counted, first seen first.
  struct CountedTexts {
    explicit CountedTexts(Budget& budget) : index(budget) {}

    Column<int32_t> index;  // by StringId, the last place is that of "none"; -1 = not yet
    std::vector<std::string_view> views;
  };
  struct Lead {
    std::string name;
    int32_t dictionary;
  };

  const model::Recording& recording_;
  Budget& budget_;
  std::shared_ptr<Table> table_;
  BatchSink* sink_;
  Status status_;
  std::vector<Lead> lead_;  // one, or none
  int32_t lead_index_ = 0;
  Array batch_;
  std::vector<Field> fields_;                 // of the batch
  std::vector<std::shared_ptr<void>> owned_;  // by the batch
  std::map<int32_t, CountedTexts> counted_;   // by dictionary
  int64_t rows_ = 0;
  bool has_batches_ = false;
};

}  // namespace gpustrata::arrow
