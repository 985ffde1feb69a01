// The journal of an allocator that is observed.
//
// What a device has when it begins is known later than its first events: a snapshot's entry comes under the lock, its state when
// the lock is free again. Until then the events are held back, so that the state stands before them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "capture/gpustrata.h"
#include "capture/observe/even_clock.h"
#include "capture/observe/observed_state.h"
#include "capture/recorder/journal.h"
#include "capture/recorder/journal_stacks.h"
#include "capture/stacks/raw_stacks.h"
#include "engine/base/status.h"
#include "engine/trace/trace_event.h"

namespace gpustrata::capture {

class ObservedJournal {
 public:
  // Errors: those of Journal::create. `clock` has begun.
  [[nodiscard]] static Result<std::shared_ptr<ObservedJournal>> create(const std::string& path,
                                                                       int64_t max_size,
                                                                       const gpustrata_observable& allocator,
                                                                       const RawStacks& stacks,
                                                                       const EvenClock& clock);

  // Under the lock of the device. The event's stack is one of `stacks`, its time one of `clock`; texts as they were told.
  void event(int device, trace::TraceEvent event, const char* context, const char* metadata);
  // Those of one thread in their order; not two at once.
  void region(std::string_view name, bool begins, int device, uint64_t time);
  // What all devices had before their first event.
  void begin_with(const ObservedState& state);
  void close() { journal_->close(); }

  [[nodiscard]] int64_t events(int device) const;  // so far; below 0: there is no such device
  [[nodiscard]] bool is_cut() { return journal_->is_cut(); }

 private:
  struct Device {
    std::atomic<bool> is_told{false};  // its state
    std::atomic<int64_t> events{0};
    TickTimes times;
    std::mutex lock;  // of what follows
    std::vector<trace::TraceEvent> held;
  };
  ObservedJournal(std::unique_ptr<Journal> journal, const gpustrata_observable& allocator,
                  const RawStacks& stacks, const EvenClock& clock);
  [[nodiscard]] StringId text(const char* text, StringId otherwise);
  void tell_state(int device, const ObservedState& state);

  std::unique_ptr<Journal> journal_;
  JournalStacks stacks_;
  const EvenClock& clock_;
  StringId empty_, no_context_;
  std::vector<Device> devices_;
  TickTimes region_times_;
};

}  // namespace gpustrata::capture
