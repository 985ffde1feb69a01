#include "capture/python/native/table_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "engine/base/utf8.h"

namespace memstrata::python {

void TableBuilder::begin_batch(size_t rows) {
  batch_ = {};
  batch_.length = static_cast<int64_t>(rows);
  batch_.buffers = {nullptr};
  fields_.clear();
}

void TableBuilder::add(Field field, Array array) {
  fields_.push_back(std::move(field));
  batch_.children.push_back(std::move(array));
}

void TableBuilder::end_batch() {
  if (table_->schema.children.empty()) table_->schema.children = std::move(fields_);
  table_->batches.push_back(std::move(batch_));
}

void TableBuilder::finish() {
  for (const Texts& column : texts_) {
    const Array dictionary = texts(column.counted.views());
    for (Array& batch : table_->batches) batch.children[column.column].dictionary = {dictionary};
  }
}

Array TableBuilder::flat(size_t count, const void* data) {
  // Consumers look at the address even of nothing.
  static constexpr int64_t kNothing[1] = {0};
  return {static_cast<int64_t>(count), 0, {nullptr, data == nullptr ? kNothing : data}, {}, {}};
}

Field TableBuilder::dictionary_field(std::string name, std::string format, bool nullable) {
  return {std::move(name), std::move(format), nullable, {}, {Field{"", "u", false, {}, {}}}};
}

Array TableBuilder::texts(std::span<const std::string_view> texts) {
  Column<int32_t> offsets(budget_);
  Column<char> bytes(budget_);
  if (!offsets.reserve(texts.size() + 1)) return refuse();
  (void)offsets.push_back(0);
  for (const std::string_view text : texts) {
    const std::string clean = utf8::sanitized(text);
    if (clean.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()) - bytes.size() ||
        !bytes.append(clean))
      return refuse();
    (void)offsets.push_back(static_cast<int32_t>(bytes.size()));
  }
  Array array = flat(texts.size(), keep(std::move(offsets)));
  array.buffers.push_back(flat(0, keep(std::move(bytes))).buffers[1]);
  return array;
}

void TableBuilder::add_int64(std::string name, const Column<int64_t>& values, const Rows& rows) {
  add({std::move(name), "l", false, {}, {}}, rows_of(values, rows));
}

void TableBuilder::add_known(std::string name, const Column<int64_t>& values, const Rows& rows,
                             int64_t none) {
  Array array = rows_of(values, rows);
  set_nulls(array, [&](size_t i) { return values[rows[i]] == none; });
  add({std::move(name), "l", true, {}, {}}, std::move(array));
}

void TableBuilder::add_addresses(std::string name, const Column<uint64_t>& values, const Rows& rows) {
  add({std::move(name), "L", false, {}, {}}, rows_of(values, rows));
}

void TableBuilder::add_constant(std::string name, int32_t value, size_t rows) {
  add({std::move(name), "i", false, {}, {}}, made<int32_t>(rows, [&](size_t) { return value; }));
}

void TableBuilder::add_times(std::string name, const Column<int64_t>& times, const Rows& rows,
                             const model::Part& part) {
  const auto microseconds = [&](size_t i) {
    return part.has_clock ? part.clock.microseconds(times[rows[i]]) : std::nullopt;
  };
  Array array = part.clock == model::Clock{}
                    ? rows_of(times, rows)
                    : made<int64_t>(rows.count(), [&](size_t i) { return microseconds(i).value_or(0); });
  set_nulls(array, [&](size_t i) { return !microseconds(i); });
  add({std::move(name), "l", true, {}, {}}, std::move(array));
}

void TableBuilder::add_streams(std::string name, const Column<StreamId>& ids, const Rows& rows) {
  add({std::move(name), "l", false, {}, {}}, made<int64_t>(rows.count(), [&](size_t i) {
        const StreamId id = ids[rows[i]];
        return id.is_none() ? 0 : recording_.streams[id.index()];
      }));
}

void TableBuilder::add_pools(std::string name, const Column<PoolId>& ids, const Rows& rows) {
  Array array = rows_of(ids, rows);
  set_nulls(array, [&](size_t i) { return ids[rows[i]].is_none(); });
  std::vector<std::string> names;
  names.reserve(recording_.pools.size());
  for (const model::Pool& pool : recording_.pools)
    names.push_back(
        fmt::format("{}:{}", static_cast<uint64_t>(pool.graph_id), static_cast<uint64_t>(pool.user_id)));
  const std::vector<std::string_view> views(names.begin(), names.end());
  array.dictionary.push_back(texts(views));
  add(dictionary_field(std::move(name), "s", true), std::move(array));
}

void TableBuilder::add_texts(std::string name, const Column<StringId>& ids, const Rows& rows) {
  const size_t place = fields_.size();
  auto known =
      std::find_if(texts_.begin(), texts_.end(), [&](const Texts& one) { return one.column == place; });
  if (known == texts_.end()) known = texts_.insert(known, {place, CountedTexts(recording_)});
  Array array = made<int32_t>(rows.count(), [&](size_t i) {
    const StringId id = ids[rows[i]];
    if (id.is_none()) return 0;
    const int32_t index = known->counted.index_of(recording_, id);
    if (index < 0) failed_ = true;
    return index;
  });
  set_nulls(array, [&](size_t i) { return ids[rows[i]].is_none(); });
  add(dictionary_field(std::move(name), "i", true), std::move(array));
}

int32_t TableBuilder::CountedTexts::index_of(const model::Recording& recording, StringId text) {
  // The last place is that of "none", an empty text.
  if (index_.empty() && !index_.resize(recording.strings.size() + 1, -1)) return -1;
  int32_t& index = index_[text.is_none() ? recording.strings.size() : text.index()];
  if (index < 0) {
    index = static_cast<int32_t>(views_.size());
    views_.push_back(recording.strings.view(text));
  }
  return index;
}

}  // namespace memstrata::python
