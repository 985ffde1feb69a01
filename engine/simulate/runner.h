// Runs the requests of a log through the caching allocator on a simulated device, step by step. What became of them is
// for whoever listens: rerun.h makes a part of a recording of it, trial.h keeps the statistics only.
//
// Deterministic, the same natively and in WebAssembly. Time: that of the allocator's calls; memory: 8 bytes a request and
// the allocator's rows, charged.
#pragma once

#include <cstdint>
#include <span>

#include "engine/alloc/config.h"
#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"
#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/base/string_pool.h"
#include "engine/simulate/request_log.h"
#include "engine/simulate/start_layout.h"

namespace gpustrata::simulate {

inline constexpr int64_t kDefaultDeviceBytes = int64_t{80} << 30;
inline constexpr int64_t kLargestDevice = int64_t{1} << 50;

// Error: wrong_usage (not 0 < bytes <= kLargestDevice).
[[nodiscard]] Status check_capacity(int64_t bytes);

// A request that the log does not have, run before one of its rows.
struct Inserted {
  int32_t before = 0;                   // the row; behind the last: at the end
  Request request = Request::allocate;  // or free, empty_cache; nothing else
  int64_t size = 0;                     // allocate: bytes > 0
  int64_t stream = 0;
  int32_t subject = -1;  // free: place of its allocate among the inserted, before it
};

// What is run, and where. All that is referred to outlives the run.
struct RunInput {
  const RequestLog& log;
  const alloc::Config& config;
  int64_t capacity = 0;
  const StartLayout* start = nullptr;            // null = an empty device
  std::span<const int64_t> sizes = {};           // by request, instead of the log's; 0 = it is left out
  alloc::AddressSource* addresses = nullptr;     // null = they grow
  int32_t ordinal = 0;                           // of the device
  std::span<const Inserted> inserted = {};       // in the order of their rows
  std::span<const uint32_t> start_numbers = {};  // DeviceAllocator::set_adopted_numbers()
};

class Runner {
 public:
  // `strings` has the log's texts; `sink` hears the allocator's events, or is null.
  Runner(const RunInput& input, const StringPool& strings, trace::EventSink* sink, Budget& budget);

  // Once, before the first step. Errors: wrong_usage (capacity, a layout that contradicts itself), limit_exceeded.
  [[nodiscard]] Status begin();
  [[nodiscard]] bool at_end() const { return at_ == input_.log.size_rows() && !at_inserted(); }
  // The next request of the log: its row.
  [[nodiscard]] size_t at() const { return at_; }
  // An inserted request comes before it: its place. A step runs that one, and at() stays.
  [[nodiscard]] bool at_inserted() const {
    return inserted_at_ < input_.inserted.size() &&
           (static_cast<size_t>(input_.inserted[inserted_at_].before) <= at_ ||
            at_ == input_.log.size_rows());
  }
  [[nodiscard]] size_t inserted_at() const { return inserted_at_; }
  // Runs the next request. An error is the request's and stays at it: wrong_usage (a pool that is not there, a block that
  // is not live, settings), limit_exceeded. Out of memory is none: see is_out_of_memory().
  [[nodiscard]] Status step();

  // Did the request before at() fail for want of device memory? Its numbers are the allocator's last_oom().
  [[nodiscard]] bool is_out_of_memory() const { return is_out_of_memory_; }
  // By request so far: of an allocate or present block its address, for good; 0 = none.
  [[nodiscard]] const Column<uint64_t>& address() const { return address_; }
  [[nodiscard]] Column<uint64_t>& address() { return address_; }
  [[nodiscard]] const alloc::DeviceAllocator& allocator() const { return allocator_; }
  void reset_peaks() { allocator_.reset_peak_stats(); }
  [[nodiscard]] const alloc::SimulatedDevice& device() const { return device_; }
  [[nodiscard]] Status no_memory() const;
  void set_preference(alloc::DeviceAllocator::Preference* preference) {
    allocator_.set_preference(preference);
  }

 private:
  [[nodiscard]] Status apply(size_t row);
  [[nodiscard]] Status apply(const Inserted& inserted);
  [[nodiscard]] Status check(Status status) const;
  [[nodiscard]] Status allocate(size_t row);
  [[nodiscard]] Status allocate_from(trace::PoolKey pool, size_t row);
  [[nodiscard]] Status ask(size_t row);
  [[nodiscard]] Status adopt(const StartLayout::Segment& segment);
  [[nodiscard]] alloc::Origin origin_of(size_t row) const;
  [[nodiscard]] int64_t size_of(size_t row) const {
    return input_.sizes.empty() ? input_.log.size[row] : input_.sizes[row];
  }

  RunInput input_;
  const StringPool& strings_;
  Budget& budget_;
  alloc::SimulatedDevice device_;
  alloc::DeviceAllocator allocator_;
  Column<uint64_t> address_{budget_};
  Column<uint64_t> inserted_address_{budget_};  // by inserted request so far
  size_t at_ = 0, inserted_at_ = 0;
  bool is_out_of_memory_ = false;
};

}  // namespace gpustrata::simulate
