// One device of one snapshot, ready for questions: what its views share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/analysis/device/device_index.h"
#include "engine/analysis/device/known.h"
#include "engine/analysis/ops/made_in.h"
#include "engine/analysis/ops/op_list.h"
#include "engine/analysis/ops/op_paths.h"
#include "engine/analysis/ops/profiler_table.h"
#include "engine/analysis/report/report.h"
#include "engine/analysis/what_if/what_if.h"
#include "engine/replay/device.h"
#include "engine/replay/op_finder.h"
#include "engine/replay/span_lanes.h"
#include "engine/session/state_view.h"

namespace gpustrata::session {

// Views refer to it, so it never moves. The recording must outlive it.
class Device {
 public:
  // Device -1 is pinned host memory. Error: wrong_usage (there is no such snapshot or device), limit_exceeded.
  [[nodiscard]] static Result<std::shared_ptr<Device>> open(const model::Recording& recording,
                                                            int32_t snapshot, int32_t device);

  [[nodiscard]] int32_t snapshot_number() const { return snapshot_number_; }
  [[nodiscard]] const replay::Device& replayed() const { return *replayed_; }
  [[nodiscard]] const model::Recording& recording() const { return replayed_->recording; }
  [[nodiscard]] const model::Part& part() const { return replayed_->part; }
  [[nodiscard]] const replay::BlockLives& lives() const { return replayed_->lives; }

  // Computed when first asked for. Error: limit_exceeded.
  [[nodiscard]] Result<const replay::StateHistory*> history() { return replayed_->history(); }
  [[nodiscard]] Result<const analysis::BlockAttributes*> attributes() { return known_.attributes(); }
  [[nodiscard]] Result<const analysis::DeviceIndex*> index();
  // Keys, steps, and categories by the engine's own rules.
  [[nodiscard]] analysis::Known& known() { return known_; }
  // At least the first `part` of ReportFinder::kParts parts, by the engine's own rules. Error: limit_exceeded.
  [[nodiscard]] Result<const analysis::ReportFinder*> report(int32_t part);
  [[nodiscard]] Result<analysis::EventContext> context();
  [[nodiscard]] Result<StateView*> states();
  // What can be run again. Error: as analysis::rehearse().
  [[nodiscard]] Result<const analysis::Rehearsal*> rehearsal(const analysis::GoesOn& goes_on);
  // Of a profiler's trace; the last one asked for is kept.
  [[nodiscard]] Result<analysis::OpList*> ops(analysis::OpBy by, analysis::OpScope scope);
  [[nodiscard]] Result<const analysis::ProfilerTable*> profiler_table(bool by_shapes);
  // The device's history in a profiler's trace; null = it has none.
  [[nodiscard]] const model::DeviceTrace* trace() const;
  [[nodiscard]] replay::SpanAxis span_axis() const {
    return {recording(), replayed_->rows.events, replayed_->rows.clock};
  }
  // Of a profiler's trace. Error: limit_exceeded.
  [[nodiscard]] Result<const replay::SpanLanes*> lanes();
  // Of a profiler's trace, for allocations of a snapshot of the same run. Error: limit_exceeded.
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
  [[nodiscard]] int32_t state_parts() const { return replayed_->rows.events.count / kEventsOfAPart + 1; }
  [[nodiscard]] Status prepare_states(int32_t part);

 private:
  static constexpr int32_t kEventsOfAPart = 25'000;

  Device(int32_t snapshot_number, std::unique_ptr<replay::Device> replayed)
      : snapshot_number_(snapshot_number),
        replayed_(std::move(replayed)),
        known_(recording(), part(), replayed_->rows, lives()) {}

  int32_t snapshot_number_;
  std::unique_ptr<replay::Device> replayed_;
  analysis::Known known_;
  std::optional<analysis::DeviceIndex> index_;
  std::optional<analysis::ReportFinder> report_;  // refers to those above
  std::unique_ptr<StateView> states_;             // refers to the two above
  std::optional<analysis::Rehearsal> rehearsal_;
  struct Ops {
    analysis::OpBy by;
    analysis::OpScope scope;
    std::unique_ptr<analysis::OpList> list;
  };
  struct Profiled {
    bool by_shapes;
    analysis::ProfilerTable table;
  };
  std::optional<replay::SpanLanes> lanes_;
  std::optional<Ops> ops_;
  std::optional<Profiled> profiled_;
  std::optional<replay::OpFinder> op_finder_;
  std::optional<analysis::OpPaths> op_paths_;
  std::unique_ptr<analysis::MadeIn> made_in_;
  int32_t made_in_version_ = 0;
};

}  // namespace gpustrata::session
