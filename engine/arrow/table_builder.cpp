#include "engine/arrow/table_builder.h"

#include <fmt/core.h>

#include <limits>

#include "engine/base/utf8.h"

namespace gpustrata::arrow {

void TableBuilder::lead_with(std::string name, int32_t dictionary) {
  lead_ = {{std::move(name), dictionary}};
}

void TableBuilder::begin_batch(size_t rows) {
  batch_ = {};
  batch_.length = static_cast<int64_t>(rows);
  batch_.buffers = {nullptr};
  fields_.clear();
  for (const auto& [name, dictionary] : lead_)
    add({name, "i", false, {}, dictionary}, made<int32_t>(rows, [&](size_t) { return lead_index_; }));
}

void TableBuilder::add(Field field, Array array) {
  fields_.push_back(std::move(field));
  batch_.children.push_back(std::move(array));
}

void TableBuilder::end_batch() {
  if (table_->schema.children.empty()) table_->schema.children = std::move(fields_);
  has_batches_ = true;
  if (stopped()) return;
  rows_ += batch_.length;
  if (sink_ != nullptr) {
    status_ = sink_->take(table_, batch_);
    owned_.clear();
    return;
  }
  table_->batches.push_back(std::move(batch_));
  std::move(owned_.begin(), owned_.end(), std::back_inserter(table_->owned));
  owned_.clear();
}

void TableBuilder::finish() {
  for (const auto& [dictionary, counted] : counted_) fill(dictionary, counted.views);
}

Array TableBuilder::refuse() {
  stop({ErrorCode::limit_exceeded,
        fmt::format("This table does not fit into memory: {} bytes would be needed.", budget_.needed())});
  return {};
}

Array TableBuilder::flat(size_t count, const void* data) {
  // Consumers look at the address even of nothing.
  static constexpr int64_t kNothing[1] = {0};
  return {static_cast<int64_t>(count), 0, {nullptr, data == nullptr ? kNothing : data}};
}

int32_t TableBuilder::later() {
  table_->dictionaries.emplace_back();
  return static_cast<int32_t>(table_->dictionaries.size()) - 1;
}

int32_t TableBuilder::words(std::span<const std::string_view> texts) {
  const int32_t dictionary = later();
  fill(dictionary, texts);
  return dictionary;
}

int32_t TableBuilder::counted_texts() {
  const int32_t dictionary = later();
  counted_.emplace(dictionary, CountedTexts(budget_));
  return dictionary;
}

void TableBuilder::fill(int32_t dictionary, std::span<const std::string_view> views) {
  std::vector<std::shared_ptr<void>> of_batch = std::exchange(owned_, {});
  table_->dictionaries[static_cast<size_t>(dictionary)] = texts(views);
  std::move(owned_.begin(), owned_.end(), std::back_inserter(table_->owned));
  owned_ = std::move(of_batch);
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

void TableBuilder::add_known(std::string name, const Column<int64_t>& values, const Rows& rows,
                             int64_t none) {
  Array array = rows_of(values, rows);
  set_nulls(array, [&](size_t i) { return values[rows[i]] == none; });
  add({std::move(name), "l", true}, std::move(array));
}

void TableBuilder::add_addresses(std::string name, const Column<uint64_t>& values, const Rows& rows) {
  add({std::move(name), "L"}, rows_of(values, rows));
}

void TableBuilder::add_constant(std::string name, int32_t value, size_t rows) {
  add({std::move(name), "i"}, made<int32_t>(rows, [&](size_t) { return value; }));
}

void TableBuilder::add_times(std::string name, const PackedColumn<int64_t>& times, const Rows& rows,
                             const model::Part& part) {
  const auto microseconds = [&](size_t i) {
    return part.has_clock ? part.clock.microseconds(times[rows[i]]) : std::nullopt;
  };
  Array array = part.clock == model::Clock{}
                    ? rows_of(times, rows)
                    : made<int64_t>(rows.count(), [&](size_t i) { return microseconds(i).value_or(0); });
  set_nulls(array, [&](size_t i) { return !microseconds(i); });
  add({std::move(name), "l", true}, std::move(array));
}

template <typename Ids>
void TableBuilder::add_streams(std::string name, const Ids& ids, const Rows& rows) {
  add({std::move(name), "l"}, made<int64_t>(rows.count(), [&](size_t i) {
        const StreamId id = ids[rows[i]];
        return id.is_none() ? 0 : recording_.streams[id.index()];
      }));
}

int32_t TableBuilder::pool_names() {
  std::vector<std::string> names;
  names.reserve(recording_.pools.size());
  for (const model::Pool& pool : recording_.pools)
    names.push_back(
        fmt::format("{}:{}", static_cast<uint64_t>(pool.graph_id), static_cast<uint64_t>(pool.user_id)));
  const std::vector<std::string_view> views(names.begin(), names.end());
  return words(views);
}

template <typename Ids>
void TableBuilder::add_pools(std::string name, const Ids& ids, const Rows& rows, int32_t pools) {
  const auto is_none = [&](size_t i) { return ids[rows[i]].is_none(); };
  size_t first = 0;
  while (first < rows.count() && !is_none(first)) ++first;
  // polars looks at the numbers of nulls, too.
  Array array = first == rows.count() ? rows_of(ids, rows) : made<int16_t>(rows.count(), [&](size_t i) {
    return is_none(i) ? int16_t{0} : static_cast<int16_t>(ids[rows[i]].value);
  });
  set_nulls(array, is_none);
  add({std::move(name), "s", true, {}, pools}, std::move(array));
}

template <typename Ids>
void TableBuilder::add_texts(std::string name, const Ids& ids, const Rows& rows, int32_t dictionary) {
  Array array = made<int32_t>(rows.count(), [&](size_t i) {
    const StringId id = ids[rows[i]];
    return id.is_none() ? 0 : number_of(dictionary, id);
  });
  set_nulls(array, [&](size_t i) { return ids[rows[i]].is_none(); });
  add({std::move(name), "i", true, {}, dictionary}, std::move(array));
}

template void TableBuilder::add_streams(std::string, const Column<StreamId>&, const Rows&);
template void TableBuilder::add_streams(std::string, const PackedColumn<StreamId>&, const Rows&);
template void TableBuilder::add_pools(std::string, const Column<PoolId>&, const Rows&, int32_t);
template void TableBuilder::add_pools(std::string, const PackedColumn<PoolId>&, const Rows&, int32_t);
template void TableBuilder::add_texts(std::string, const Column<StringId>&, const Rows&, int32_t);
template void TableBuilder::add_texts(std::string, const PackedColumn<StringId>&, const Rows&, int32_t);

int32_t TableBuilder::number_of(int32_t dictionary, StringId text) {
  CountedTexts& counted = counted_.at(dictionary);
  if (counted.index.empty() && !counted.index.resize(recording_.strings.size() + 1, -1)) {
    refuse();
    return -1;
  }
  int32_t& index = counted.index[text.is_none() ? recording_.strings.size() : text.index()];
  if (index < 0) {
    index = static_cast<int32_t>(counted.views.size());
    counted.views.push_back(recording_.strings.view(text));
  }
  return index;
}

}  // namespace gpustrata::arrow
