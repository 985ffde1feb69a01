// A trace of ops made by hand: a tick is a microsecond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/model/recording.h"
#include "engine/replay/span_lanes.h"

namespace gpustrata::replay {

class HandSpans {
 public:
  void op(int64_t start, int64_t duration, int32_t thread = 0, model::SpanKind kind = model::SpanKind::op,
          std::string_view name = {}) {
    const StringId known = name.empty() ? StringId{} : recording_->strings.intern(name);
    rows_.push_back({.name = known, .kind = kind, .thread = thread, .start = start, .duration = duration});
  }
  // Events in order of time.
  void event_at(int64_t time, int32_t thread = 0) {
    (void)recording_->events.append({.action = trace::Action::alloc, .size = 1, .time = time});
    (void)recording_->records.append({.thread = thread});
  }
  void finish() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return std::tuple(a.thread, a.start, -a.duration) < std::tuple(b.thread, b.start, -b.duration);
    });
    int32_t threads = 1;
    for (size_t i = 0; i < rows_.size(); ++i) {
      Row& row = rows_[i];
      for (size_t before = 0; before < i; ++before) {
        const Row& other = rows_[before];
        if (other.thread == row.thread && other.start + other.duration > row.start)
          row.parent = static_cast<int32_t>(before);
      }
      (void)recording_->spans.append(row);
      threads = std::max(threads, row.thread + 1);
    }
    for (int32_t i = 0; i < threads; ++i) (void)recording_->threads.append({});
    model::Part& part = recording_->parts.emplace_back();
    part.kind = model::PartKind::trace;
    part.spans = {0, static_cast<int32_t>(rows_.size())};
    model::DeviceTrace trace;
    trace.events = {0, static_cast<int32_t>(recording_->events.size_rows())};
    trace.first_record = 0;
    part.traces.push_back(trace);
  }

  [[nodiscard]] const model::Recording& recording() const { return *recording_; }
  [[nodiscard]] SpanLanes lanes() const {
    const model::Part& part = recording_->parts[0];
    auto made = SpanLanes::make(*recording_, part, part.traces.data());
    if (!made) std::abort();
    return std::move(*made);
  }
  [[nodiscard]] SpanAxis axis() const {
    const model::Part& part = recording_->parts[0];
    return {*recording_, part.traces[0].events, part.clock};
  }

 private:
  using Row = model::SpanTable::Row;
  std::unique_ptr<Budget> budget_ = std::make_unique<Budget>(int64_t{1} << 28);
  std::unique_ptr<model::Recording> recording_ = std::make_unique<model::Recording>(*budget_);
  std::vector<Row> rows_;
};

}  // namespace gpustrata::replay
