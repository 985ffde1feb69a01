#include "engine/io/readers/series/memory_tracker_schema.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <tuple>

#include "engine/io/values/numbers.h"

namespace gpustrata::io {

using model::Diag;
using values::Tag;

namespace {

// What the containers become.
constexpr Tag kOperatorRow = Tag::own_rows_0;  // id = row of samples_
constexpr Tag kOperators = Tag::own_kept_0;    // id = table
constexpr Tag kMarkers = Tag::own_kept_1;      // id = table
constexpr Tag kNothing = Tag::own_kept_2;      // an empty dict
constexpr Tag kStatistics = Tag::own_kept_3;   // the outermost dict

}  // namespace

MemoryTrackerSchema::MemoryTrackerSchema(model::Recording& recording) : recording_(recording) {}

// Rounded to a whole byte, half to even, as Python rounds; kNoValue if it is no size.
int64_t MemoryTrackerSchema::bytes_of(const Value& mebibytes) {
  model::Diagnostics& diagnostics = recording_.diagnostics;
  constexpr double kBeyondSizes = 9223372036854775808.0;
  double bytes = 0;
  if (mebibytes.tag == Tag::real) {
    bytes = values::double_of(mebibytes) * values::kMebibyte;
  } else if (mebibytes.tag == Tag::integer) {
    int64_t exact = 0;
    if (__builtin_mul_overflow(static_cast<int64_t>(mebibytes.num), int64_t{1} << 20, &exact)) {
      diagnostics.add(Diag::integer_out_of_range, offset_);
      return model::kNoValue;
    }
    if (exact >= 0) return exact;
    bytes = -1;
  } else {
    diagnostics.add(Diag::integer_out_of_range, offset_);
    return model::kNoValue;
  }
  if (!std::isfinite(bytes)) {
    diagnostics.add(Diag::not_finite, offset_);
    return model::kNoValue;
  }
  const double whole = std::nearbyint(bytes);
  if (whole >= kBeyondSizes) {
    diagnostics.add(Diag::integer_out_of_range, offset_);
    return model::kNoValue;
  }
  if (whole < 0) {
    diagnostics.add(Diag::negative_size, offset_);
    return 0;
  }
  if (whole != bytes) diagnostics.add(Diag::not_whole_bytes, offset_);
  return static_cast<int64_t>(whole);
}

MemoryTrackerSchema::Value MemoryTrackerSchema::finish_list(std::span<const Value> items,
                                                            const values::Ending& ending) {
  offset_ = ending.offset;
  if (items.empty()) return {Tag::empty_list, 0, 0};
  if (items.size() != 2 || !is_text(items[0].tag) || !is_number(items[1].tag)) return {Tag::dropped, 0, 0};
  const Sample sample{StringId{static_cast<size_t>(items[0].id)}, bytes_of(items[1])};
  if (samples_.size() >= model::kMaxRows || !samples_.push_back(sample)) return {};
  return {kOperatorRow, static_cast<uint32_t>(samples_.size() - 1), 0};
}

MemoryTrackerSchema::Value MemoryTrackerSchema::finish_dict(std::span<const Value> pairs,
                                                            const values::Ending& ending) {
  offset_ = ending.offset;
  if (pairs.empty()) return {kNothing, 0, 0};
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (is_text(pairs[i].tag) && view(pairs[i]).starts_with("memories_")) return outermost(pairs);
  }
  return table(pairs, is_text(pairs[0].tag));
}

MemoryTrackerSchema::Value MemoryTrackerSchema::table(std::span<const Value> pairs, bool are_markers) {
  model::Diagnostics& diagnostics = recording_.diagnostics;
  const size_t first = entries_.size();
  const auto is_step = [](const Value& value) {
    return value.tag == Tag::integer && static_cast<int64_t>(value.num) >= 0;
  };
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Value& key = pairs[i];
    const Value& value = pairs[i + 1];
    const Value& step = are_markers ? value : key;
    if (!is_step(step) || (are_markers && !is_text(key.tag))) {
      diagnostics.add(Diag::wrong_type, offset_,
                      are_markers ? "a marker without the number of an operator" : "an operator's number");
      continue;
    }
    if (!are_markers && (value.tag != kOperatorRow || samples_[value.id].bytes == model::kNoValue)) {
      diagnostics.add(Diag::sample_incomplete, offset_, fmt::format("operator {}", step.num));
      continue;
    }
    const Entry entry{static_cast<int64_t>(step.num), are_markers ? key.id : value.id};
    if (entries_.size() >= model::kMaxRows || !entries_.push_back(entry)) return {};
  }
  const model::RowRange rows{static_cast<int32_t>(first), static_cast<int32_t>(entries_.size() - first)};
  if (!tables_.push_back(rows)) return {};
  return {are_markers ? kMarkers : kOperators, static_cast<uint32_t>(tables_.size() - 1), 0};
}

MemoryTrackerSchema::Value MemoryTrackerSchema::outermost(std::span<const Value> pairs) {
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Value& value = pairs[i + 1];
    const std::string_view key = is_text(pairs[i].tag) ? view(pairs[i]) : std::string_view{};
    // What is of another kind is not kept: an id is a row of the table that its tag names.
    const auto keep = [&](Value& place, std::initializer_list<Tag> kinds) {
      if (std::find(kinds.begin(), kinds.end(), value.tag) != kinds.end())
        place = value;
      else
        recording_.diagnostics.add(Diag::wrong_type, offset_, key);
    };
    const auto* const known = std::find(std::begin(kTrackerTables), std::end(kTrackerTables), key);
    if (known != std::end(kTrackerTables)) {
      keep(found_[static_cast<size_t>(known - std::begin(kTrackerTables))], {kOperators, kNothing});
    } else if (key == kTrackerMarkers) {
      keep(markers_, {kMarkers, kNothing});
    } else if (key == kTrackerRetries) {
      keep(retries_, {Tag::integer});
    } else if (key == kTrackerOpIndex) {
      Value operators;  // as many as the tables have
      keep(operators, {Tag::integer});
    } else {
      recording_.diagnostics.add(Diag::unknown_entry, offset_, key);
    }
  }
  return {kStatistics, 0, 0};
}

std::span<MemoryTrackerSchema::Entry> MemoryTrackerSchema::entries_of(const Value& table) {
  if (table.tag != kOperators && table.tag != kMarkers) return {};
  const model::RowRange rows = tables_[table.id];
  return entries_.span().subspan(static_cast<size_t>(rows.first), static_cast<size_t>(rows.count));
}

bool MemoryTrackerSchema::add_series(std::string_view name, std::span<const Entry> entries, bool has_labels) {
  model::PointTable& points = recording_.points;
  const auto first = static_cast<int32_t>(points.size_rows());
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 1 < entries.size() && entries[i + 1].op == entries[i].op) {
      recording_.diagnostics.add(Diag::duplicate_key, -1, fmt::format("operator {}", entries[i].op));
      continue;
    }
    const Sample& sample = samples_[entries[i].sample];
    if (!points.append({entries[i].op, sample.bytes, has_labels ? sample.name : StringId{}, {}}))
      return false;
  }
  const StringId text = recording_.strings.intern(name);
  const auto count = static_cast<int32_t>(points.size_rows()) - first;
  return !text.is_none() && recording_.series.append({text, model::kUnknownDevice, {first, count}});
}

// Of equal names the last one counts.
bool MemoryTrackerSchema::add_markers(std::span<Entry> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.sample < b.sample; });
  size_t kept = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 1 < entries.size() && entries[i + 1].sample == entries[i].sample) {
      recording_.diagnostics.add(Diag::duplicate_key, -1, "a marker");
    } else {
      entries[kept++] = entries[i];
    }
  }
  entries = entries.first(kept);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(a.op, a.sample) < std::tuple(b.op, b.sample);
  });
  model::PointTable& points = recording_.points;
  const auto first = static_cast<int32_t>(points.size_rows());
  for (const Entry& entry : entries) {
    if (!points.append({entry.op, model::kNoValue, StringId{static_cast<size_t>(entry.sample)}, {}}))
      return false;
  }
  const StringId text = recording_.strings.intern(kTrackerMarkers);
  return !text.is_none() && recording_.series.append(
                                {text, model::kUnknownDevice, {first, static_cast<int32_t>(entries.size())}});
}

// Both in order. Counts numbers that only one of them has, and gaps in the first.
void MemoryTrackerSchema::compare_numbers(std::span<const Entry> first, std::span<const Entry> other) {
  int64_t odd = 0;
  size_t at = 0;
  for (const Entry& entry : first) {
    while (at < other.size() && other[at].op < entry.op) ++at, ++odd;
    if (at < other.size() && other[at].op == entry.op) {
      while (at < other.size() && other[at].op == entry.op) ++at;
    } else {
      ++odd;
    }
  }
  odd += static_cast<int64_t>(other.size() - at);
  recording_.diagnostics.add_many(Diag::steps_not_dense, odd);
}

bool MemoryTrackerSchema::publish(const Value& result) {
  if (result.tag != kStatistics) return false;
  model::Part part;
  part.kind = model::PartKind::series;
  part.has_clock = false;
  part.series_are = model::SeriesAre::operators;
  part.series.first = static_cast<int32_t>(recording_.series.size_rows());
  bool whole = true;
  std::span<Entry> first;
  for (size_t i = 0; i < found_.size() && whole; ++i) {
    const std::span<Entry> entries = entries_of(found_[i]);
    // std::sort needs no memory; a row read later has the higher number.
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tuple(a.op, a.sample) < std::tuple(b.op, b.sample);
    });
    if (i == 0) {
      first = entries;
      int64_t gaps = 0, next = 0;
      for (const Entry& entry : entries) {
        gaps += entry.op > next ? 1 : 0;
        next = entry.op < INT64_MAX ? entry.op + 1 : entry.op;
      }
      recording_.diagnostics.add_many(Diag::steps_not_dense, gaps);
    } else if (found_[i].tag != Tag::undefined) {
      compare_numbers(first, entries);
    }
    if (i == 0 || found_[i].tag != Tag::undefined) whole = add_series(kTrackerSeries[i], entries, i == 0);
  }
  whole = whole && add_markers(entries_of(markers_));
  part.series.count = static_cast<int32_t>(recording_.series.size_rows()) - part.series.first;
  const auto row = static_cast<int32_t>(recording_.parts.size());
  if (retries_.tag == Tag::integer) {
    const StringId key = recording_.strings.intern(kTrackerRetries);
    const StringId text = recording_.strings.intern(fmt::format("{}", static_cast<int64_t>(retries_.num)));
    whole = whole && !key.is_none() && !text.is_none() &&
            recording_.extras.append({model::Owner::part, row, key, text});
  }
  if (!whole) recording_.diagnostics.add(Diag::budget_exhausted, -1, "no memory for the tables");
  recording_.parts.push_back(std::move(part));
  return true;
}

}  // namespace gpustrata::io
