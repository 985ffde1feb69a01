// Samples and calls of a telemetry file, on their way into series.
#pragma once

#include <array>
#include <span>

#include "engine/base/column.h"
#include "engine/io/readers/series/telemetry.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

class TelemetryRows {
 public:
  static constexpr size_t kCounters = kTelemetryCounters.size();

  struct Sample {
    int64_t time = model::kNoTime;  // nanoseconds
    int32_t device = 0;             // -1 = CPU
    uint32_t extras = 0;            // how many of extras_ belong to it, ending with `extras_end`
    uint32_t extras_end = 0;
    StringId label, note;
    std::array<int64_t, kCounters> values;
    bool of_call = false;  // a call's own: no sample
  };
  struct Call {
    StringId name;
    int32_t device = 0;
    int64_t start = model::kNoTime;  // nanoseconds
    int64_t before = model::kNoValue, peak = model::kNoValue, after = model::kNoValue, net = model::kNoValue;
    int64_t reserved = model::kNoValue;  // the most of its snapshots
    int64_t duration = model::kNoValue;  // nanoseconds
    StringId seconds;                    // as written
  };
  struct Extra {
    StringId key, value;
  };

  explicit TelemetryRows(model::Recording& recording);

  [[nodiscard]] static Sample no_sample() {
    Sample sample;
    sample.values.fill(model::kNoValue);
    return sample;
  }
  // The extras added since the last sample are its own. False: the budget refuses.
  [[nodiscard]] bool add(Sample sample);
  [[nodiscard]] bool add(const Call& call);
  [[nodiscard]] bool add_extra(StringId key, StringId value) { return extras_.push_back({key, value}); }
  void forget_extras() { extras_.truncate(taken_extras_); }
  [[nodiscard]] bool add_fact(StringId key, StringId value) { return facts_.push_back({key, value}); }
  [[nodiscard]] Sample& sample(size_t row) { return samples_[row]; }
  [[nodiscard]] size_t samples() const { return samples_.size(); }
  [[nodiscard]] bool is_empty() const { return samples_.empty() && calls_.empty() && facts_.empty(); }

  // Adds the part. False: the budget refuses; what found room is there.
  [[nodiscard]] bool publish();

 private:
  [[nodiscard]] bool publish_samples();
  [[nodiscard]] bool publish_calls();
  [[nodiscard]] bool add_series(std::string_view name, int32_t device, int32_t first,
                                model::Unit unit = model::Unit::bytes);

  model::Recording& recording_;
  Column<Sample> samples_{recording_.budget};
  Column<Call> calls_{recording_.budget};
  Column<Extra> extras_{recording_.budget}, facts_{recording_.budget};
  size_t taken_extras_ = 0;
};

}  // namespace gpustrata::io
