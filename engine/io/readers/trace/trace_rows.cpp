#include "engine/io/readers/trace/trace_rows.h"

#include <algorithm>
#include <array>

#include "engine/base/hash.h"
#include "engine/base/saturating.h"
#include "engine/io/limits.h"

namespace gpustrata::io::traces {

using model::Diag;
using model::SpanKind;

namespace {

constexpr int kNanoseconds = 3;  // of microseconds: three digits more

// While spans are sorted: their new order, and a copy of the widest column. While records get their places: the
// orders, their owner and stack, the rows of two tables, and what the timeline takes.
constexpr int64_t kBytesPerSpan = 16;
constexpr int64_t kBytesPerRecord = 160 + kReplayBytesPerEvent;
constexpr size_t kStep = size_t{1} << 12;

struct Category {
  std::string_view name;
  SpanKind kind;
};
constexpr std::array<Category, 21> kCategories = {{
    {"cpu_op", SpanKind::op},
    {"Operator", SpanKind::op},
    {"user_annotation", SpanKind::annotation},
    {"python_function", SpanKind::python},
    {"cuda_runtime", SpanKind::runtime},
    {"cuda_driver", SpanKind::runtime},
    {"Runtime", SpanKind::runtime},
    {"xpu_runtime", SpanKind::runtime},
    {"xpu_driver", SpanKind::runtime},
    {"privateuse1_runtime", SpanKind::runtime},
    {"privateuse1_driver", SpanKind::runtime},
    {"mtia_runtime", SpanKind::runtime},
    {"glow_runtime", SpanKind::runtime},
    {"kernel", SpanKind::device},
    {"Kernel", SpanKind::device},
    {"gpu_memcpy", SpanKind::device},
    {"Memcpy", SpanKind::device},
    {"gpu_memset", SpanKind::device},
    {"Memset", SpanKind::device},
    {"gpu_user_annotation", SpanKind::device},
    {"collective_comm", SpanKind::device},
}};

[[nodiscard]] uint64_t hash_of(StringId pid, StringId tid) {
  return mix_hash(uint64_t{static_cast<uint32_t>(pid.value)} << 32 | static_cast<uint32_t>(tid.value));
}

[[nodiscard]] bool is(const Value& value, std::string_view text) {
  return value.kind == Value::Kind::string && value.text == text;
}

}  // namespace

Rows::Rows(model::Recording& recording)
    : drafts(recording.budget),
      recording_(recording),
      first_span_(static_cast<int32_t>(recording.spans.size_rows())),
      first_thread_(static_cast<int32_t>(recording.threads.size_rows())) {}

bool Rows::keep_reserve(size_t& until, size_t rows, int64_t bytes_per_row) {
  if (rows < until) return true;
  until = rows + kStep;
  return reserve_.more(static_cast<int64_t>(kStep) * bytes_per_row);
}

bool Rows::add(const Event& event, int64_t offset) {
  model::Diagnostics& found = recording_.diagnostics;
  if (event.repeats_keys) found.add(Diag::duplicate_key, offset);
  if (event.odd_comma) found.add(Diag::odd_items, offset);
  const char phase =
      event.phase.kind == Value::Kind::string && event.phase.text.size() == 1 ? event.phase.text[0] : '\0';
  switch (phase) {
    case 'X':
      return add_span(event, offset);
    case 'i':
    case 'I':
      if (is(event.name, "[memory]")) return add_record(event, false, offset);
      if (is(event.name, "[OutOfMemory]")) return add_record(event, true, offset);
      return true;
    case 'M':
      return !is(event.name, "thread_name") || name_thread(event);
    case 's':
    case 'f':
    case 't':
      return true;
    default:
      found.add(Diag::unknown_phase, offset);
      return true;
  }
}

bool Rows::number(const Value& value, int shift, int64_t& found, int64_t offset) {
  if (value.kind == Value::Kind::absent || (value.kind == Value::Kind::word && value.text == "null"))
    return false;
  const Number what = value.kind == Value::Kind::number ? integer_of(value.text, shift, found) : Number::none;
  if (what == Number::fits) return true;
  recording_.diagnostics.add(what == Number::none ? Diag::wrong_type : Diag::integer_out_of_range, offset);
  return false;
}

StringId Rows::text(const Value& value) {
  if (value.kind == Value::Kind::absent) return {};
  std::string_view text = value.text;
  const StringId id =
      value.has_escapes ? recording_.strings.intern(unescaped(text)) : recording_.strings.intern(text);
  refused_ = refused_ || id.is_none();
  return id;
}

bool Rows::make_room_for_threads() {
  const size_t rows = recording_.threads.size_rows() - static_cast<size_t>(first_thread_);
  if (rows * 2 < thread_table_.size()) return true;
  Column<int32_t> grown(recording_.budget);
  if (!grown.resize(std::max<size_t>(64, thread_table_.size() * 2), -1)) return false;
  const size_t mask = grown.size() - 1;
  for (const int32_t row : thread_table_) {
    if (row < 0) continue;
    size_t slot = hash_of(recording_.threads.process[row], recording_.threads.id[row]) & mask;
    while (grown[slot] >= 0) slot = (slot + 1) & mask;
    grown[slot] = row;
  }
  thread_table_ = std::move(grown);
  return true;
}

// 5555 and "5555" are the same thread: writers of 2021 used both in one file.
int32_t Rows::thread_of(const Value& pid, const Value& tid) {
  model::ThreadTable& threads = recording_.threads;
  if (last_thread_ >= 0 && !pid.has_escapes && !tid.has_escapes &&
      recording_.strings.view(threads.process[last_thread_]) == pid.text &&
      recording_.strings.view(threads.id[last_thread_]) == tid.text) {
    return last_thread_;
  }
  const StringId process = text(pid), id = text(tid);
  if (refused_ || !make_room_for_threads()) return -1;
  const size_t mask = thread_table_.size() - 1;
  size_t slot = hash_of(process, id) & mask;
  while (thread_table_[slot] >= 0) {
    const int32_t row = thread_table_[slot];
    if (threads.process[row] == process && threads.id[row] == id) return last_thread_ = row;
    slot = (slot + 1) & mask;
  }
  const auto row = static_cast<int32_t>(threads.size_rows());
  if (!threads.append({.process = process, .id = id})) return -1;
  thread_table_[slot] = row;
  return last_thread_ = row;
}

SpanKind Rows::kind_of(StringId category) {
  if (category.is_none() || category == last_category_)
    return category.is_none() ? SpanKind::other : last_kind_;
  const std::string_view name = recording_.strings.view(category);
  const auto* known = std::find_if(kCategories.begin(), kCategories.end(),
                                   [&](const Category& one) { return one.name == name; });
  last_category_ = category;
  return last_kind_ = known == kCategories.end() ? SpanKind::other : known->kind;
}

bool Rows::add_span(const Event& event, int64_t offset) {
  model::SpanTable::Row row;
  if (!number(event.start, kNanoseconds, row.start, offset)) {
    recording_.diagnostics.add(Diag::span_incomplete, offset);
    return true;
  }
  if (!number(event.duration, kNanoseconds, row.duration, offset) || row.duration < 0) {
    recording_.diagnostics.add(Diag::span_without_end, offset);
  }
  row.name = text(event.name);
  row.category = text(event.category);
  row.kind = kind_of(row.category);
  row.thread = thread_of(event.pid, event.tid);
  if (row.kind == SpanKind::op || row.kind == SpanKind::annotation) {
    const Args& args = event.args;
    row.shapes = text(args.shapes);
    if (args.calls.kind == Value::Kind::string) row.calls = text(args.calls);
    if (args.module.kind == Value::Kind::string) row.module = text(args.module);
  }
  return !refused_ && row.thread >= 0 &&
         keep_reserve(spans_kept_for_, recording_.spans.size_rows(), kBytesPerSpan) &&
         recording_.spans.append(row);
}

int32_t Rows::device_of(const Args& args, int64_t offset) {
  Device device;
  int64_t id = 0;
  if (!number(args.device_type, 0, device.type, offset)) return -1;
  if (device.type != 0 && number(args.device_id, 0, id, offset)) {
    device.id = static_cast<int32_t>(std::clamp<int64_t>(id, 0, INT32_MAX));
  }
  if (last_device_ >= 0 && devices[static_cast<size_t>(last_device_)] == device) return last_device_;
  const auto known = std::find(devices.begin(), devices.end(), device);
  last_device_ = static_cast<int32_t>(known - devices.begin());
  if (known == devices.end()) {
    if (devices.size() == model::kMaxDevices) {
      recording_.diagnostics.add(Diag::too_many_devices, offset);
      return last_device_ = -1;
    }
    devices.push_back(device);
  }
  return last_device_;
}

bool Rows::add_record(const Event& event, bool is_oom, int64_t offset) {
  const Args& args = event.args;
  Draft draft;
  draft.is_oom = is_oom;
  draft.device = device_of(args, offset);
  if (draft.device < 0 || !number(event.start, kNanoseconds, draft.start, offset) ||
      !number(args.bytes, 0, draft.bytes, offset)) {
    recording_.diagnostics.add(Diag::record_incomplete, offset);
    return true;
  }
  (void)number(args.index, 0, draft.index, offset);
  const auto total = [&](const Value& value) {
    int64_t bytes = 0;
    return number(value, 0, bytes, offset) && bytes >= 0 ? bytes : model::kUnknownSize;
  };
  draft.allocated = total(args.total_allocated);
  draft.reserved = total(args.total_reserved);
  if (args.address.kind == Value::Kind::number) {
    draft.has_address = true;
    if (unsigned_of(args.address.text, draft.address) != Number::fits) {
      recording_.diagnostics.add(Diag::integer_out_of_range, offset);
      draft.address = hash_text(args.address.text);  // still the same in an alloc and its free
    }
  }
  if (!draft.has_address && !is_oom) recording_.diagnostics.add(Diag::no_addresses, offset);
  draft.thread = thread_of(event.pid, event.tid);
  return !refused_ && draft.thread >= 0 && keep_reserve(drafts_kept_for_, drafts.size(), kBytesPerRecord) &&
         drafts.push_back(draft);
}

bool Rows::name_thread(const Event& event) {
  const int32_t thread = thread_of(event.pid, event.tid);
  if (thread < 0) return false;
  recording_.threads.name[thread] = text(event.args.name);
  return !refused_;
}

}  // namespace gpustrata::io::traces
