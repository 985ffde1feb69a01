// Runs the requests of a log through the caching allocator on a simulated device.
//
// Deterministic: addresses grow, are 2 MiB aligned and never used again; streams are taken in ascending order. The
// same comes out natively and in WebAssembly. Time: that of the allocator's calls; memory: the log's, about as much
// again and the part's rows, all charged.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/alloc/config.h"
#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"
#include "engine/alloc/stats.h"
#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/allocator_rows.h"
#include "engine/model/recording.h"
#include "engine/simulate/request_log.h"

namespace memstrata::simulate {

inline constexpr int64_t kDefaultDeviceBytes = int64_t{80} << 30;
inline constexpr int64_t kLargestDevice = int64_t{1} << 50;

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

  // "S1+4096": the offset in the i-th (from 0) of `ranges`; "0x..." below all.
  [[nodiscard]] std::string place_of(uint64_t address) const;
  // The error of an allocate; null = none. O(log).
  [[nodiscard]] const Oom* oom_of(size_t request) const;
};

// Error: wrong_usage (not 0 < bytes <= kLargestDevice).
[[nodiscard]] Status check_capacity(int64_t bytes);

// A run under way. All arguments outlive it; the log's ids are those of `recording`, whose budget is used.
class Rerun {
 public:
  // Errors: wrong_usage (check_capacity()), limit_exceeded.
  [[nodiscard]] static Result<std::unique_ptr<Rerun>> start(const RequestLog& log,
                                                            const alloc::Config& config, int64_t capacity,
                                                            model::Recording& recording);

  [[nodiscard]] bool at_end() const { return at_ == log_.size_rows(); }
  // The next request: its row.
  [[nodiscard]] size_t at() const { return at_; }
  // Runs the next request. An error is the request's and stays at it: wrong_usage (a pool that is not there, a block that
  // is not live, settings), limit_exceeded. Out of memory is none: see Outcome::ooms.
  [[nodiscard]] Status step();
  [[nodiscard]] Status run_to_end();
  // Once, after any step: appends the part, named `name`, with events, segments and blocks as they are now; the caller
  // seals the recording. Error: limit_exceeded.
  [[nodiscard]] Result<Outcome> finish(std::string name = {});

  [[nodiscard]] const alloc::DeviceAllocator& allocator() const { return allocator_; }

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

  Rerun(const RequestLog& log, const alloc::Config& config, int64_t capacity, model::Recording& recording);
  [[nodiscard]] Status apply(size_t row);
  [[nodiscard]] Status allocate(size_t row);
  [[nodiscard]] alloc::Origin origin_of(size_t row) const;
  [[nodiscard]] Status no_memory() const;

  const RequestLog& log_;
  model::Recording& recording_;
  Rows rows_;
  alloc::SimulatedDevice device_;
  alloc::DeviceAllocator allocator_;
  Outcome outcome_;
  size_t at_ = 0;
  int32_t first_event_;
};

// All of it at once.
[[nodiscard]] Result<Outcome> rerun(const RequestLog& log, const alloc::Config& config, int64_t capacity,
                                    model::Recording& recording, std::string name = {});

}  // namespace memstrata::simulate
