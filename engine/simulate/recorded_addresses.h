// Where a run's segments lay when they were recorded: so that a run that does the same gets the same addresses, and
// ties between blocks of one size are decided as they were.
//
// Every request has a window of the trace: the events between the request before it and its own. What the allocator asks
// of the device during a request is looked for there, in order.
#pragma once

#include <cstdint>

#include "engine/alloc/simulated_device.h"
#include "engine/model/recording.h"

namespace gpustrata::simulate {

class RecordedAddresses final : public alloc::AddressSource {
 public:
  enum class Difference : uint8_t {
    ends_it,   // a run under other settings: from the first difference on, addresses grow
    is_passed  // a repetition: what is recorded for the next request counts again
  };
  // The recording outlives it. `events`: of the device.
  RecordedAddresses(const model::Recording& recording, model::RowRange events, Difference difference)
      : events_(recording.events), difference_(difference), at_(events.first), window_end_(events.first) {}

  // Before each request: the row of the event that it is told from, -1 = none.
  void begin_request(int32_t event);
  [[nodiscard]] uint64_t next(int64_t bytes, bool reservation) override;

 private:
  const model::EventTable& events_;
  Difference difference_;
  int32_t at_;          // the next event to look at
  int32_t window_end_;  // events below belong to the request
  bool is_over_ = false;
};

}  // namespace gpustrata::simulate
