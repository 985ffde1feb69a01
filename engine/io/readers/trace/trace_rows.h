// Events of a trace become rows: spans at once, memory records as drafts, because what came before them on their
// thread is known only when all is read (trace_parts.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/charge.h"
#include "engine/base/column.h"
#include "engine/io/readers/trace/trace_event.h"
#include "engine/model/recording.h"

namespace gpustrata::io::traces {

// `Device Type` and `Device Id`; the host has one device, 0.
struct Device {
  int64_t type = 0;  // c10::DeviceType
  int32_t id = 0;

  bool operator==(const Device&) const = default;
};

// A memory record. 72 bytes.
struct Draft {
  int64_t start = 0;
  int64_t index = 0;  // `Ev Idx`, 0 if absent: the order of records of one moment
  int64_t bytes = 0;
  uint64_t address = 0;
  int64_t allocated = model::kUnknownSize;  // totals
  int64_t reserved = model::kUnknownSize;
  int32_t thread = 0;
  int32_t device = 0;  // row of `devices`
  bool has_address = false;
  bool is_oom = false;
};

class Rows {
 public:
  explicit Rows(model::Recording& recording);

  // What the event says; what it lacks is counted. False: memory was refused.
  [[nodiscard]] bool add(const Event& event, int64_t offset);
  // Memory that was kept for what comes after reading.
  void give_back_reserve() { reserve_ = Charge(recording_.budget); }

  [[nodiscard]] model::RowRange spans() const { return since(first_span_, recording_.spans.size_rows()); }
  [[nodiscard]] model::RowRange threads() const {
    return since(first_thread_, recording_.threads.size_rows());
  }

  Column<Draft> drafts;
  std::vector<Device> devices;  // at most model::kMaxDevices

 private:
  [[nodiscard]] static model::RowRange since(int32_t first, size_t end) {
    return {first, static_cast<int32_t>(end) - first};
  }
  [[nodiscard]] bool add_span(const Event& event, int64_t offset);
  [[nodiscard]] bool add_record(const Event& event, bool is_oom, int64_t offset);
  [[nodiscard]] bool name_thread(const Event& event);
  // None for absent, or for memory that was refused (`refused_`).
  [[nodiscard]] StringId text(const Value& value);
  [[nodiscard]] int32_t thread_of(const Value& pid, const Value& tid);  // -1 = refused
  [[nodiscard]] bool make_room_for_threads();
  [[nodiscard]] model::SpanKind kind_of(StringId category);
  [[nodiscard]] int32_t device_of(const Args& args, int64_t offset);  // -1 = none
  // Absent if it is no number that fits; that is counted.
  [[nodiscard]] bool number(const Value& value, int shift, int64_t& found, int64_t offset);
  [[nodiscard]] bool keep_reserve(size_t& until, size_t rows, int64_t bytes_per_row);

  model::Recording& recording_;
  int32_t first_span_;
  int32_t first_thread_;
  Column<int32_t> thread_table_{recording_.budget};  // hash of (pid, tid) -> row of `threads`
  int32_t last_thread_ = -1;
  int32_t last_device_ = -1;
  StringId last_category_;
  model::SpanKind last_kind_ = model::SpanKind::other;
  bool refused_ = false;
  Charge reserve_{recording_.budget};
  size_t spans_kept_for_ = 0;
  size_t drafts_kept_for_ = 0;
};

}  // namespace gpustrata::io::traces
