// A run as a part of a recording: what whoever shows a recorded snapshot can show of a simulated one.
//
// Deterministic: addresses grow, are 2 MiB aligned and never used again unless the input says where they lie; streams
// are taken in ascending order. Time: that of the allocator's calls; memory: the log's, about as much again and the
// part's rows, all charged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/alloc/stats.h"
#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/allocator_rows.h"
#include "engine/model/recording.h"
#include "engine/simulate/runner.h"

namespace gpustrata::simulate {

// What came of the requests, beside the part of the recording that a run adds.
struct Outcome {
  explicit Outcome(Budget& budget) : address(budget), block_bytes(budget), ooms(budget), ranges(budget) {}

  // By request. Of an allocate: its block, for good; 0 = none.
  Column<uint64_t> address;
  Column<int64_t> block_bytes;

  struct Oom {
    int32_t request = 0;
    StringId text;  // of the error
    alloc::OomNumbers numbers;
  };
  Column<Oom> ooms;

  Column<uint64_t> ranges;   // start of every segment or reservation, in the order of creation
  alloc::MemoryStats stats;  // after the last request

  // "S1+4096": the offset in the i-th (from 0) of `ranges`; "0x..." below all. Of a run whose addresses grow.
  [[nodiscard]] std::string place_of(uint64_t address) const;
  // The error of an allocate; null = none. O(log).
  [[nodiscard]] const Oom* oom_of(size_t request) const;
};

// A run under way. All that the input refers to outlives it; the log's ids are those of `recording`, whose budget is
// used.
class Rerun {
 public:
  // Errors: wrong_usage (check_capacity(), the layout), limit_exceeded.
  [[nodiscard]] static Result<std::unique_ptr<Rerun>> start(const RunInput& input,
                                                            model::Recording& recording);
  [[nodiscard]] static Result<std::unique_ptr<Rerun>> start(const RequestLog& log,
                                                            const alloc::Config& config, int64_t capacity,
                                                            model::Recording& recording) {
    return start({log, config, capacity}, recording);
  }

  [[nodiscard]] bool at_end() const { return runner_.at_end(); }
  // The next request: its row.
  [[nodiscard]] size_t at() const { return runner_.at(); }
  // An inserted one comes before it.
  [[nodiscard]] bool at_inserted() const { return runner_.at_inserted(); }
  [[nodiscard]] size_t inserted_at() const { return runner_.inserted_at(); }
  // How many events there are so far.
  [[nodiscard]] int64_t event_count() const { return rows_.count; }
  // Runner::step().
  [[nodiscard]] Status step();
  [[nodiscard]] Status run_to_end();
  // Once, after any step: appends the part, named `name`, with events, segments and blocks as they are now; the caller
  // seals the recording. Error: limit_exceeded.
  [[nodiscard]] Result<Outcome> finish(std::string name = {});

  [[nodiscard]] const alloc::DeviceAllocator& allocator() const { return runner_.allocator(); }

 private:
  // Events become rows as they come.
  class Rows final : public trace::EventSink {
   public:
    explicit Rows(model::Recording& recording) : rows(recording) {}
    void on_event(const trace::TraceEvent& event) override;

    model::AllocatorRows rows;
    int64_t time = model::kNoTime;
    int64_t count = 0;
    bool full = false;  // a row was refused
  };

  Rerun(const RunInput& input, model::Recording& recording);

  const RequestLog& log_;
  int32_t ordinal_;
  model::Recording& recording_;
  Rows rows_;
  Runner runner_;
  Outcome outcome_{recording_.budget};
  int32_t first_event_;
};

// All of it at once.
[[nodiscard]] Result<Outcome> rerun(const RunInput& input, model::Recording& recording,
                                    std::string name = {});
[[nodiscard]] inline Result<Outcome> rerun(const RequestLog& log, const alloc::Config& config,
                                           int64_t capacity, model::Recording& recording,
                                           std::string name = {}) {
  return rerun({log, config, capacity}, recording, std::move(name));
}

}  // namespace gpustrata::simulate
