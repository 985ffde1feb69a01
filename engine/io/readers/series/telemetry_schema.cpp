#include "engine/io/readers/series/telemetry_schema.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/base/json_writer.h"
#include "engine/base/saturating.h"
#include "engine/io/limits.h"
#include "engine/io/values/numbers.h"

namespace gpustrata::io {

using model::Diag;
using values::Tag;

namespace {

using Value = values::Value;

// What the containers become.
constexpr Tag kSampleRow = Tag::own_rows_0;  // id = row of the samples
constexpr Tag kTaken = Tag::own_kept_0;      // became rows, or facts of the part
constexpr Tag kNumbers = Tag::own_kept_1;    // id = list of numbers

// Places in kTelemetryCounters.
enum Counter : size_t { allocated, reserved, active, inactive, device_used, device_free, device_total };

// Keys that say what a dict of a bundle is.
constexpr std::string_view kBundleKeys[] = {"bundle_name",  "captured_event_count", "exception_type",
                                            "risk_flags",   "risk_detected",        "cwd",
                                            "fragmentation"};

constexpr double kNanoseconds = 1e9;

}  // namespace

TelemetrySchema::TelemetrySchema(model::Recording& recording) : recording_(recording), rows_(recording) {}

const Value* TelemetrySchema::find(Pairs pairs, std::string_view key) const {
  for (size_t i = pairs.size(); i >= 2; i -= 2) {  // of equal keys the last one counts
    if (is_text(pairs[i - 2].tag) && view(pairs[i - 2]) == key) return &pairs[i - 1];
  }
  return nullptr;
}

// A number of the file in units of which one is `scale` of its own, rounded; None: it is none, which is counted.
std::optional<int64_t> TelemetrySchema::whole(const Value& value, double scale) {
  model::Diagnostics& diagnostics = recording_.diagnostics;
  constexpr double kTooLong = 9.2e18;
  if (value.tag == Tag::none) return std::nullopt;
  if (value.tag == Tag::integer && scale == 1.0 && static_cast<int64_t>(value.num) != model::kNoValue)
    return static_cast<int64_t>(value.num);
  if (!is_number(value.tag)) {
    diagnostics.add(Diag::wrong_type, offset_);
    return std::nullopt;
  }
  const bool is_large = value.tag != Tag::integer && value.tag != Tag::real;
  const double number = (value.tag == Tag::real      ? values::double_of(value)
                         : value.tag == Tag::integer ? static_cast<double>(static_cast<int64_t>(value.num))
                                                     : 0) *
                        scale;
  if (!std::isfinite(number)) {
    diagnostics.add(Diag::not_finite, offset_);
    return std::nullopt;
  }
  if (is_large || std::abs(number) >= kTooLong) {
    diagnostics.add(Diag::integer_out_of_range, offset_);
    return std::nullopt;
  }
  return static_cast<int64_t>(std::nearbyint(number));
}

std::optional<int64_t> TelemetrySchema::bytes(Pairs pairs, std::string_view key, bool is_signed) {
  const Value* value = find(pairs, key);
  if (value == nullptr) return std::nullopt;
  const auto number = whole(*value, key == "memory_mb" ? values::kMebibyte : 1.0);
  if (!number || is_signed || *number >= 0) return number;
  recording_.diagnostics.add(Diag::negative_size, offset_, key);
  return 0;
}

std::optional<int64_t> TelemetrySchema::seconds(Pairs pairs, std::string_view key) {
  const Value* value = find(pairs, key);
  return value == nullptr ? std::nullopt : whole(*value, kNanoseconds);
}

StringId TelemetrySchema::text(Pairs pairs, std::string_view key) {
  const Value* value = find(pairs, key);
  if (value == nullptr || value->tag == Tag::none) return {};
  if (is_text(value->tag)) return StringId{static_cast<size_t>(value->id)};
  recording_.diagnostics.add(Diag::wrong_type, offset_, key);
  return {};
}

int32_t TelemetrySchema::device(Pairs pairs) {
  if (const Value* id = find(pairs, "device_id"); id != nullptr && id->tag != Tag::none) {
    const auto number = whole(*id, 1.0);
    if (number && *number >= -1 && *number <= INT32_MAX) return static_cast<int32_t>(*number);
    if (number) recording_.diagnostics.add(Diag::integer_out_of_range, offset_, "device_id");
    return model::kUnknownDevice;
  }
  const StringId id = find(pairs, "device") != nullptr ? text(pairs, "device") : StringId{};
  const std::string_view name = recording_.strings.view(id);
  if (name.empty()) return model::kUnknownDevice;
  if (name.find("cpu") != std::string_view::npos) return -1;
  const size_t colon = name.find(':');
  int32_t ordinal = 0;
  if (name.starts_with('/') || colon == std::string_view::npos) return 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + colon + 1, end, ordinal);
  return parsed.ec == std::errc() && parsed.ptr == end && ordinal >= 0 ? ordinal : model::kUnknownDevice;
}

StringId TelemetrySchema::as_json(const Value& value) {
  if (value.tag == Tag::text) return StringId{static_cast<size_t>(value.id)};
  JsonWriter json;
  switch (value.tag) {
    case Tag::string:
    case Tag::bytes:
      json.value(view(value));
      break;
    case Tag::boolean:
      json.value(value.num != 0);
      break;
    case Tag::integer:
      json.value(static_cast<int64_t>(value.num));
      break;
    case Tag::big_integer:
      json.value(value.num);
      break;
    case Tag::real:
      json.value(values::double_of(value));
      break;
    case Tag::empty_list:
      json.raw("[]");
      break;
    case kNumbers: {
      const model::RowRange rows = lists_[value.id];
      json.begin_array();
      for (int32_t row = rows.first; row < rows.end() && json.text().size() < kMaxTextBytes; ++row)
        json.value(numbers_[row]);
      json.end_array();
      break;
    }
    default:
      json.null();
  }
  return recording_.strings.intern(json.text());
}

StringId TelemetrySchema::as_number(const Value& value) {
  JsonWriter json;
  if (value.tag == Tag::real) {
    json.value(values::double_of(value));
  } else {
    json.value(static_cast<int64_t>(value.num));
  }
  return recording_.strings.intern(json.text());
}

// Unknown data as text, bounded.
Value TelemetrySchema::json_of(Pairs pairs) {
  JsonWriter json;
  uint64_t depth = 1;
  json.begin_object();
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (pairs[i + 1].tag == Tag::text) depth = std::max(depth, pairs[i + 1].num + 1);
    const StringId text = as_json(pairs[i + 1]);
    if (text.is_none()) return {};
    json.key(is_text(pairs[i].tag) ? view(pairs[i]) : std::string_view{});
    json.raw(recording_.strings.view(text));
    if (json.text().size() > kMaxTextBytes || depth > kMaxTextDepth) {
      recording_.diagnostics.add(Diag::text_cut, offset_);
      return {Tag::dropped, 0, 0};
    }
  }
  json.end_object();
  text_bytes_ += static_cast<int64_t>(json.text().size());
  if (text_bytes_ > kFreeTextBytes) {
    recording_.diagnostics.add(Diag::text_cut, offset_);
    return {Tag::dropped, 0, 0};
  }
  const StringId id = recording_.strings.intern(json.text());
  if (id.is_none()) return {};
  return {Tag::text, static_cast<uint32_t>(id.value), depth};
}

Value TelemetrySchema::finish_list(std::span<const Value> items, const values::Ending& ending) {
  offset_ = ending.offset;
  if (ending.cut) recording_.diagnostics.add(Diag::text_cut, offset_);
  if (items.empty()) return {Tag::empty_list, 0, 0};
  const bool has_rows = std::any_of(items.begin(), items.end(), [](const Value& item) {
    return item.tag == kSampleRow || item.tag == kTaken;
  });
  if (has_rows) return {kTaken, 0, 0};
  const bool are_numbers =
      std::all_of(items.begin(), items.end(), [](const Value& item) { return is_number(item.tag); });
  if (!are_numbers) return {Tag::dropped, 0, 0};
  const auto first = static_cast<int32_t>(numbers_.size());
  if (numbers_.size() + items.size() > model::kMaxRows) return {};
  for (const Value& item : items) {
    const double number = item.tag == Tag::real      ? values::double_of(item)
                          : item.tag == Tag::integer ? static_cast<double>(static_cast<int64_t>(item.num))
                                                     : std::numeric_limits<double>::quiet_NaN();
    if (!numbers_.push_back(number)) return {};
  }
  if (!lists_.push_back({first, static_cast<int32_t>(items.size())})) return {};
  return {kNumbers, static_cast<uint32_t>(lists_.size() - 1), 0};
}

Value TelemetrySchema::finish_dict(Pairs pairs, const values::Ending& ending) {
  offset_ = ending.offset;
  if (has(pairs, "allocated_memory")) return snapshot(pairs);
  if (has(pairs, "function_name")) return result(pairs);
  if (has(pairs, "timestamps") && has(pairs, "allocated")) return timeline(pairs);
  const bool has_level =
      has(pairs, "allocator_allocated_bytes") || has(pairs, "memory_allocated") || has(pairs, "memory_mb");
  const bool has_time = has(pairs, "timestamp_ns") || has(pairs, "timestamp");
  if (has_level || (has_time && (has(pairs, "event_type") || has(pairs, "type")))) return record(pairs);
  for (const std::string_view key : kBundleKeys) {
    if (has(pairs, key)) return facts(pairs);
  }
  const bool has_rows = [&] {
    for (size_t i = 1; i < pairs.size(); i += 2) {
      if (pairs[i].tag == kSampleRow || pairs[i].tag == kTaken) return true;
    }
    return false;
  }();
  return has_rows ? Value{kTaken, 0, 0} : json_of(pairs);
}

Value TelemetrySchema::sample_row(TelemetryRows::Sample sample) {
  if (sample.time == model::kNoTime || sample.values[allocated] == model::kNoValue) {
    recording_.diagnostics.add(Diag::sample_incomplete, offset_);
    rows_.forget_extras();
    return {Tag::dropped, 0, 0};
  }
  if (!rows_.add(sample)) return {};
  return {kSampleRow, static_cast<uint32_t>(rows_.samples() - 1), 0};
}

// Fields that have no column become extras of the sample that is added next.
bool TelemetrySchema::keep_others(Pairs pairs, std::span<const std::string_view> known) {
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const std::string_view key = is_text(pairs[i].tag) ? view(pairs[i]) : std::string_view{};
    if (pairs[i + 1].tag == Tag::none || pairs[i + 1].tag == Tag::dropped) continue;
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const StringId value = as_json(pairs[i + 1]);
    if (value.is_none() || !rows_.add_extra(StringId{static_cast<size_t>(pairs[i].id)}, value)) return false;
  }
  return true;
}

Value TelemetrySchema::record(Pairs pairs) {
  static constexpr std::string_view kKnown[] = {"schema_version",
                                                "timestamp_ns",
                                                "timestamp",
                                                "event_type",
                                                "type",
                                                "context",
                                                "message",
                                                "device_id",
                                                "device",
                                                "allocator_allocated_bytes",
                                                "memory_allocated",
                                                "memory_mb",
                                                "allocator_reserved_bytes",
                                                "memory_reserved",
                                                "allocator_active_bytes",
                                                "active_memory",
                                                "allocator_inactive_bytes",
                                                "inactive_memory",
                                                "device_used_bytes",
                                                "device_used",
                                                "device_free_bytes",
                                                "device_free",
                                                "device_total_bytes",
                                                "device_total",
                                                "total_memory"};
  const auto first_of = [&](std::string_view one, std::string_view other) {
    const auto found = bytes(pairs, one);
    return found ? found : bytes(pairs, other);
  };
  TelemetryRows::Sample sample = TelemetryRows::no_sample();
  const auto set = [&](Counter counter, std::optional<int64_t> value) {
    if (value) sample.values[counter] = *value;
    return value;
  };
  if (const Value* time = find(pairs, "timestamp_ns"); time != nullptr) {
    sample.time = whole(*time, 1.0).value_or(model::kNoTime);
  } else {
    sample.time = seconds(pairs, "timestamp").value_or(model::kNoTime);
  }
  sample.device = device(pairs);
  auto level = first_of("allocator_allocated_bytes", "memory_allocated");
  if (!level) level = bytes(pairs, "memory_mb");
  (void)set(allocated, level);
  const bool is_legacy = !has(pairs, "schema_version");
  auto held = first_of("allocator_reserved_bytes", "memory_reserved");
  if (!held && is_legacy) held = level;
  (void)set(reserved, held);
  (void)set(active, first_of("allocator_active_bytes", "active_memory"));
  (void)set(inactive, first_of("allocator_inactive_bytes", "inactive_memory"));
  auto used = first_of("device_used_bytes", "device_used");
  if (!used && is_legacy) used = level;
  (void)set(device_used, used);
  auto total = first_of("device_total_bytes", "device_total");
  if (!total) total = bytes(pairs, "total_memory");
  (void)set(device_total, total);
  auto free = first_of("device_free_bytes", "device_free");
  if (!free && is_legacy && total && used) free = std::max(saturated_difference(*total, *used), int64_t{0});
  (void)set(device_free, free);
  sample.label = has(pairs, "event_type") ? text(pairs, "event_type") : text(pairs, "type");
  sample.note = has(pairs, "context") ? text(pairs, "context") : text(pairs, "message");
  if (!keep_others(pairs, kKnown)) return {};
  return sample_row(sample);
}

Value TelemetrySchema::snapshot(Pairs pairs) {
  static constexpr std::string_view kKnown[] = {"timestamp",       "operation",     "allocated_memory",
                                                "reserved_memory", "active_memory", "inactive_memory",
                                                "device_id",       "stack_trace"};
  TelemetryRows::Sample sample = TelemetryRows::no_sample();
  sample.time = seconds(pairs, "timestamp").value_or(model::kNoTime);
  sample.device = device(pairs);
  constexpr std::pair<Counter, std::string_view> kCounters[] = {{allocated, "allocated_memory"},
                                                                {reserved, "reserved_memory"},
                                                                {active, "active_memory"},
                                                                {inactive, "inactive_memory"}};
  for (const auto& [counter, key] : kCounters)
    sample.values[counter] = bytes(pairs, key).value_or(model::kNoValue);
  sample.label = text(pairs, "operation");
  sample.note = text(pairs, "stack_trace");
  if (!keep_others(pairs, kKnown)) return {};
  return sample_row(sample);
}

// A call of a profiled function.
Value TelemetrySchema::result(Pairs pairs) {
  TelemetryRows::Call call;
  call.name = text(pairs, "function_name");
  call.device = model::kUnknownDevice;
  const auto own = [&](std::string_view key) -> TelemetryRows::Sample* {
    const Value* value = find(pairs, key);
    if (value == nullptr || value->tag != kSampleRow) return nullptr;
    TelemetryRows::Sample& sample = rows_.sample(value->id);
    sample.of_call = true;
    return &sample;
  };
  const TelemetryRows::Sample* const before = own("memory_before");
  const TelemetryRows::Sample* const after = own("memory_after");
  const TelemetryRows::Sample* const peak = own("memory_peak");
  if (before != nullptr) {
    call.device = before->device;
    call.start = before->time;
    call.before = before->values[allocated];
  }
  if (after != nullptr) call.after = after->values[allocated];
  for (const TelemetryRows::Sample* one : {before, after, peak}) {
    if (one != nullptr) call.reserved = std::max(call.reserved, one->values[reserved]);
  }
  auto highest = bytes(pairs, "peak_memory_usage");
  if (!highest) highest = bytes(pairs, "peak_memory");
  if (!highest && peak != nullptr) highest = peak->values[allocated];
  call.peak = highest.value_or(model::kNoValue);
  auto net = bytes(pairs, "memory_diff", true);
  if (!net && before != nullptr && after != nullptr) net = saturated_difference(call.after, call.before);
  if (!net) {
    const auto taken = bytes(pairs, "memory_allocated");
    const auto freed = bytes(pairs, "memory_freed");
    if (taken || freed) net = saturated_difference(taken.value_or(0), freed.value_or(0));
  }
  call.net = net.value_or(model::kNoValue);
  if (const Value* time = find(pairs, "execution_time"); time != nullptr) {
    if (const auto duration = whole(*time, kNanoseconds)) {
      call.duration = *duration;
      call.seconds = as_number(*time);
      if (call.seconds.is_none()) return {};
    }
  }
  if (call.name.is_none()) {
    recording_.diagnostics.add(Diag::sample_incomplete, offset_, "a call of no function");
    return {Tag::dropped, 0, 0};
  }
  if (!rows_.add(call)) return {};
  return {kTaken, 0, 0};
}

// Lists of times and levels, as a diagnose bundle has them.
Value TelemetrySchema::timeline(Pairs pairs) {
  const auto list = [&](std::string_view key) -> std::span<const double> {
    const Value* value = find(pairs, key);
    if (value == nullptr || value->tag == Tag::empty_list) return {};
    if (value->tag != kNumbers) {
      recording_.diagnostics.add(Diag::wrong_type, offset_, key);
      return {};
    }
    const model::RowRange rows = lists_[value->id];
    return numbers_.span().subspan(static_cast<size_t>(rows.first), static_cast<size_t>(rows.count));
  };
  const auto times = list("timestamps"), levels = list("allocated"), held = list("reserved");
  const size_t longest = std::max(times.size(), levels.size());
  const size_t count = std::min(times.size(), levels.size());
  recording_.diagnostics.add_many(Diag::lists_differ, static_cast<int64_t>(longest - count), offset_);
  for (size_t i = 0; i < count; ++i) {
    TelemetryRows::Sample sample = TelemetryRows::no_sample();
    sample.device = model::kUnknownDevice;
    sample.time = whole(values::real(times[i]), kNanoseconds).value_or(model::kNoTime);
    sample.values[allocated] = whole(values::real(levels[i]), 1.0).value_or(model::kNoValue);
    if (i < held.size())
      sample.values[reserved] = whole(values::real(held[i]), 1.0).value_or(model::kNoValue);
    if (sample_row(sample).tag == Tag::undefined) return {};
  }
  return {kTaken, 0, 0};
}

Value TelemetrySchema::facts(Pairs pairs) {
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (!is_text(pairs[i].tag)) continue;
    const StringId value = as_json(pairs[i + 1]);
    if (value.is_none() || !rows_.add_fact(StringId{static_cast<size_t>(pairs[i].id)}, value)) return {};
  }
  return {kTaken, 0, 0};
}

}  // namespace gpustrata::io
