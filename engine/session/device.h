// One device of one snapshot, ready for questions: what its views share.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/analysis/details/event_list.h"
#include "engine/analysis/device/device.h"
#include "engine/analysis/ops/made_in.h"
#include "engine/analysis/ops/op_list.h"
#include "engine/analysis/ops/op_paths.h"
#include "engine/analysis/ops/profiler_table.h"
#include "engine/analysis/report/report.h"
#include "engine/analysis/what_if/what_if.h"
#include "engine/replay/op_finder.h"
#include "engine/replay/span_lanes.h"
#include "engine/session/state_view.h"

namespace gpustrata::session {

// Views refer to it, so it never moves. The recording must outlive it.
class Device : public analysis::Device {
 public:
  // Device -1 is pinned host memory. Error: wrong_usage (there is no such snapshot or device), limit_exceeded.
  [[nodiscard]] static Result<std::shared_ptr<Device>> open(const model::Recording& recording,
                                                            int32_t snapshot, int32_t device);

  [[nodiscard]] int32_t snapshot_number() const { return snapshot_number_; }

  // Each computed when first asked for, good until the next question. Error: limit_exceeded.
  // At least the first `part` of ReportFinder::kParts parts, by the engine's own rules.
  [[nodiscard]] Result<const analysis::ReportFinder*> report(int32_t part);
  [[nodiscard]] Result<StateView*> states();
  // The list of those that a filter means. Error also: as analysis::filter_events().
  [[nodiscard]] Result<const analysis::EventList*> events(std::string_view filter);
  // What can be run again. Error: as analysis::rehearse().
  [[nodiscard]] Result<const analysis::Rehearsal*> rehearsal(const analysis::GoesOn& goes_on);
  // The device's history in a profiler's trace; null = it has none.
  [[nodiscard]] const model::DeviceTrace* trace() const;
  [[nodiscard]] replay::SpanAxis span_axis() const { return {recording(), rows().events, rows().clock}; }
  // Of a profiler's trace.
  [[nodiscard]] Result<analysis::OpList*> ops(analysis::OpBy by, analysis::OpScope scope);
  [[nodiscard]] Result<const analysis::ProfilerTable*> profiler_table(bool by_shapes);
  [[nodiscard]] Result<const replay::SpanLanes*> lanes();
  // Of a profiler's trace, for allocations of a snapshot of the same run.
  [[nodiscard]] Result<const replay::OpFinder*> op_finder();
  [[nodiscard]] Result<const analysis::OpPaths*> op_paths();

  // What a trace of the same run told of this device's allocations; null = nothing.
  [[nodiscard]] const analysis::MadeIn* made_in() const { return made_in_.get(); }
  struct MadeInPart {
    std::vector<int32_t> parents;  // of nodes behind those that are known
    std::vector<std::string_view> names;
    std::vector<int32_t> ops;            // 0 or 1
    std::vector<int32_t> events, nodes;  // of allocations
  };
  // Adds to it, which may be nothing; all views' filters mean it from then on. Error: wrong_usage (lists of different lengths, numbers that are
  // not there), limit_exceeded; nothing is told then.
  [[nodiscard]] Status tell_made_in(const MadeInPart& part);
  // Allocations that have an op.
  [[nodiscard]] int64_t made_in_count() const;
  void forget_made_in();
  // Another number: what was found by filters before is not what they mean now.
  [[nodiscard]] int32_t made_in_version() const { return made_in_version_; }

  // What states() needs is made in parts of some milliseconds: at least the first `part` of them are then
  // there. Error: limit_exceeded.
  [[nodiscard]] int32_t state_parts() const { return rows().events.count / kEventsOfAPart + 1; }
  [[nodiscard]] Status prepare_states(int32_t part);

 private:
  static constexpr int32_t kEventsOfAPart = 25'000;

  Device(int32_t snapshot_number, std::unique_ptr<replay::Device> replayed)
      : analysis::Device(std::move(replayed)), snapshot_number_(snapshot_number) {}

  int32_t snapshot_number_;
  std::unique_ptr<analysis::MadeIn> made_in_;
  int32_t made_in_version_ = 0;
};

}  // namespace gpustrata::session
