#include "engine/io/readers/series/memory_timeline_rows.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "engine/io/values/numbers.h"

namespace gpustrata::io {

using model::Diag;
using values::Tag;
using values::Value;

namespace {

constexpr std::array<std::string_view, 5> kActions = {"", "PREEXISTING", "CREATE", "INCREMENT_VERSION",
                                                      "DESTROY"};
constexpr size_t kRawNumbers = 4;
constexpr double kTooMuch = 9.2e18;

// Sums of sizes from a file: they stay at the end of 64 bits.
void add_counted(int64_t& level, int64_t bytes, model::Diagnostics& diagnostics) {
  if (!__builtin_add_overflow(level, bytes, &level)) return;
  level = bytes < 0 ? INT64_MIN + 1 : INT64_MAX;
  diagnostics.add(Diag::integer_out_of_range);
}

}  // namespace

MemoryTimelineRows::MemoryTimelineRows(model::Recording& recording) : recording_(recording) {}

std::optional<int64_t> MemoryTimelineRows::number(const Value& value, int64_t offset, bool is_size) {
  model::Diagnostics& diagnostics = recording_.diagnostics;
  if (value.tag == Tag::integer && static_cast<int64_t>(value.num) != INT64_MIN)
    return static_cast<int64_t>(value.num);
  if (value.tag != Tag::real) {
    const bool is_large = is_number(value.tag);
    diagnostics.add(is_large ? Diag::integer_out_of_range : Diag::wrong_type, offset);
    return std::nullopt;
  }
  const double real = values::double_of(value);
  if (!std::isfinite(real)) {
    diagnostics.add(Diag::not_finite, offset);
    return std::nullopt;
  }
  const double whole = is_size ? std::nearbyint(real) : std::floor(real);
  if (std::abs(whole) >= kTooMuch) {
    diagnostics.add(Diag::integer_out_of_range, offset);
    return std::nullopt;
  }
  if (is_size && whole != real) diagnostics.add(Diag::not_whole_bytes, offset);
  return static_cast<int64_t>(whole);
}

bool MemoryTimelineRows::open_list(int depth) {
  if (depth == 3 && form_ == Form::raw) {
    row_.count += kCategories;  // a row with a list in it is none
    return true;
  }
  if (depth == 3) form_ = Form::plotted;
  if (depth >= 2) row_ = {};
  return true;
}

bool MemoryTimelineRows::item(int depth, const Value& value, int64_t offset) {
  if (depth == 1) {
    recording_.diagnostics.add(Diag::wrong_type, offset, "a number where a list should be");
    return true;
  }
  if (depth == 2 && form_ == Form::unknown && lists_ > 0) {
    // A second list of numbers: the first one was a row, too.
    form_ = Form::raw;
    const Row now = std::exchange(row_, first_);
    times_.clear();
    if (!add_change(offset)) return false;
    row_ = now;
  }
  if (row_.count < row_.items.size()) row_.items[row_.count] = value;
  ++row_.count;
  return depth != 2 || form_ != Form::unknown || lists_ > 0 || add_time(value, offset);
}

bool MemoryTimelineRows::close_list(int depth, int64_t offset) {
  if (depth == 3) return form_ == Form::raw || add_levels(offset);
  if (depth != 2) return true;
  if (lists_ == 0) first_ = row_;
  ++lists_;
  return form_ != Form::raw || add_change(offset);
}

bool MemoryTimelineRows::add_time(const Value& value, int64_t offset) {
  int64_t time = model::kNoTime;
  if (value.tag == Tag::integer) time = static_cast<int64_t>(value.num);
  if (value.tag == Tag::real && std::abs(values::double_of(value)) < kTooMuch)
    time = static_cast<int64_t>(std::floor(values::double_of(value)));
  if (time == model::kNoTime && bad_time_ < 0) bad_time_ = offset;
  return times_.size() < model::kMaxRows && times_.push_back(time);
}

// row_ of a raw file.
bool MemoryTimelineRows::add_change(int64_t offset) {
  model::Diagnostics& diagnostics = recording_.diagnostics;
  if (row_.count != kRawNumbers) {
    diagnostics.add(Diag::sample_incomplete, offset, "a row without its four numbers");
    return true;
  }
  const auto time = number(row_.items[0], offset, false);
  const auto bytes = number(row_.items[2], offset, true);
  if (!time || !bytes) {
    diagnostics.add(Diag::sample_incomplete, offset);
    return true;
  }
  const auto small = [&](const Value& value, int64_t end) -> std::optional<uint8_t> {
    const auto index = static_cast<int64_t>(value.num);
    if (value.tag != Tag::integer || index < 0 || index >= end) return std::nullopt;
    return static_cast<uint8_t>(index);
  };
  const auto action = small(row_.items[1], kActions.size());
  if (!action || *action == 0) diagnostics.add(Diag::wrong_type, offset, "an action");
  const auto category = small(row_.items[3], kCategories);
  if (!category) diagnostics.add(Diag::unknown_category, offset);
  return raw_.size() < model::kMaxRows &&
         raw_.push_back({*time < 0 ? model::kNoTime : *time, *bytes,
                         category.value_or(static_cast<uint8_t>(kCategories - 1)),
                         action.value_or(uint8_t{0})});
}

// row_ of a plotted file: 0 and a number for each category.
bool MemoryTimelineRows::add_levels(int64_t offset) {
  std::array<int64_t, kCategories> levels{};
  levels.fill(model::kNoValue);
  bool whole = row_.count == kCategories + 1;
  for (size_t i = 0; i < kCategories && whole; ++i) {
    const auto level = number(row_.items[i + 1], offset, true);
    whole = level.has_value();
    if (whole) levels[i] = *level;
  }
  if (!whole) {
    recording_.diagnostics.add(Diag::sample_incomplete, offset, "a row without a number for each category");
    levels.fill(model::kNoValue);
  }
  ++rows_;
  return rows_ <= model::kMaxRows / kCategories && levels_.append(levels);
}

bool MemoryTimelineRows::name_texts() {
  const auto intern = [&](std::string_view text, StringId& id) {
    id = recording_.strings.intern(text);
    return !id.is_none();
  };
  bool whole = intern(kTimelineTotal, total_);
  for (size_t i = 0; i < kCategories; ++i) whole = whole && intern(kTimelineCategories[i], categories_[i]);
  for (size_t i = 1; i < kActions.size(); ++i) whole = whole && intern(kActions[i], actions_[i]);
  return whole;
}

bool MemoryTimelineRows::add_series(StringId name, int32_t first, size_t count) {
  return recording_.series.append({name, model::kUnknownDevice, {first, static_cast<int32_t>(count)}});
}

bool MemoryTimelineRows::publish() {
  if (form_ == Form::unknown && lists_ == 1 && first_.count == kRawNumbers) {  // a single row
    form_ = Form::raw;
    row_ = first_;
    times_.clear();
    if (!add_change(-1)) return false;
  }
  model::Part part;
  part.kind = model::PartKind::series;
  part.series_are = model::SeriesAre::categories;
  part.clock.tick_ns = form_ == Form::raw ? 1 : 1000;
  part.series.first = static_cast<int32_t>(recording_.series.size_rows());
  const bool whole = name_texts() && (form_ == Form::raw ? publish_raw() : publish_plotted());
  part.series.count = static_cast<int32_t>(recording_.series.size_rows()) - part.series.first;
  recording_.parts.push_back(std::move(part));
  return whole;
}

bool MemoryTimelineRows::publish_raw() {
  model::Diagnostics& diagnostics = recording_.diagnostics;
  int64_t earliest = model::kNoTime;
  for (const Change& change : raw_) {
    if (change.time != model::kNoTime && (earliest == model::kNoTime || change.time < earliest))
      earliest = change.time;
  }
  int64_t odd = 0;
  for (size_t i = 1; i < raw_.size(); ++i) odd += raw_[i].time < raw_[i - 1].time ? 1 : 0;
  if (odd > 0) {
    diagnostics.add_many(Diag::samples_out_of_order, odd);
    std::stable_sort(raw_.data(), raw_.data() + raw_.size(),
                     [](const Change& a, const Change& b) { return a.time < b.time; });
  }
  model::PointTable& points = recording_.points;
  const size_t count = raw_.size();
  if (count > (model::kMaxRows - points.size_rows()) / 2 || !points.reserve(points.size_rows() + 2 * count))
    return false;
  const auto first = static_cast<int32_t>(points.size_rows());
  std::array<int64_t, kCategories> levels{};
  std::array<size_t, kCategories> counts{};
  const auto time_of = [&](const Change& change) {
    return change.time == model::kNoTime ? earliest : change.time;
  };
  int64_t below = 0;
  int64_t total = 0;
  for (const Change& change : raw_) {
    add_counted(total, change.bytes, diagnostics);
    if (!points.append({time_of(change), total, categories_[change.category], actions_[change.action]}))
      return false;
    ++counts[change.category];
  }
  if (!add_series(total_, first, count)) return false;
  for (size_t category = 0; category < kCategories; ++category) {
    const auto begin = static_cast<int32_t>(points.size_rows());
    for (const Change& change : raw_) {
      if (change.category != category) continue;
      add_counted(levels[category], change.bytes, diagnostics);
      below += levels[category] < 0 ? 1 : 0;
      if (!points.append({time_of(change), levels[category], {}, {}})) return false;
    }
    if (!add_series(categories_[category], begin, counts[category])) return false;
  }
  diagnostics.add_many(Diag::level_below_zero, below);
  return true;
}

bool MemoryTimelineRows::publish_plotted() {
  model::Diagnostics& diagnostics = recording_.diagnostics;
  const size_t rows = std::min(times_.size(), rows_);
  diagnostics.add_many(Diag::lists_differ, static_cast<int64_t>(std::max(times_.size(), rows_) - rows));
  Column<uint32_t> order(recording_.budget);
  if (!order.reserve(rows)) return false;
  int64_t odd = 0, latest = INT64_MIN;
  for (size_t i = 0; i < rows; ++i) {
    if (levels_[i * kCategories] == model::kNoValue) continue;
    if (times_[i] == model::kNoTime) {
      diagnostics.add(Diag::sample_incomplete, bad_time_, "a time");
      continue;
    }
    odd += times_[i] < latest ? 1 : 0;
    latest = std::max(latest, times_[i]);
    if (!order.push_back(static_cast<uint32_t>(i))) return false;
  }
  if (odd > 0) {
    diagnostics.add_many(Diag::samples_out_of_order, odd);
    std::sort(order.data(), order.data() + order.size(),
              [&](uint32_t a, uint32_t b) { return std::tuple(times_[a], a) < std::tuple(times_[b], b); });
  }
  model::PointTable& points = recording_.points;
  const size_t count = order.size();
  const size_t needed = (kCategories + 1) * count;
  if (needed > model::kMaxRows - points.size_rows() || !points.reserve(points.size_rows() + needed))
    return false;
  int64_t below = 0;
  for (size_t series = 0; series <= kCategories; ++series) {
    const auto first = static_cast<int32_t>(points.size_rows());
    for (const uint32_t row : order) {
      const std::span<const int64_t> levels = levels_.span().subspan(row * kCategories, kCategories);
      int64_t value = 0;
      if (series > 0) {
        value = levels[series - 1];
        below += value < 0 ? 1 : 0;
      } else {
        for (const int64_t level : levels) add_counted(value, level, diagnostics);
      }
      if (!points.append({times_[row], value, {}, {}})) return false;
    }
    if (!add_series(series == 0 ? total_ : categories_[series - 1], first, count)) return false;
  }
  diagnostics.add_many(Diag::level_below_zero, below);
  return true;
}

}  // namespace gpustrata::io
