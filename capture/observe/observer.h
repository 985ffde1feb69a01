// Records what another allocator of this process does: PyTorch's own, which tells of each event under its device's lock.
//
// What belongs to a device (its events, whether it is recorded) is touched under that lock alone: by the events, and by visits,
// for which the allocator is asked for a snapshot: it tells of that as of any event, device by device. So a recording begins,
// is copied and ends at one moment of each device, and an event takes no lock but that of its stack.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/gpustrata.h"
#include "capture/observe/device_history.h"
#include "capture/observe/even_clock.h"
#include "capture/observe/observed_journal.h"
#include "capture/stacks/raw_stacks.h"
#include "capture/stacks/symbols.h"
#include "engine/base/status.h"
#include "engine/base/string_pool.h"
#include "engine/io/byte_sink.h"
#include "engine/model/recording.h"
#include "engine/trace/recorder_ring.h"

namespace gpustrata::capture {

inline constexpr int kMostObserved = 128;  // devices

// Where what is observed goes: into memory, or to a journal.
struct ObservedInto {
  int64_t max_entries = 0;  // kept of each device
  std::string journal;      // path; empty: memory
  int64_t max_size = 0;     // of the journal
};

// One recording, at one moment.
struct Observation {
  explicit Observation(int64_t limit_bytes) : budget(limit_bytes), recording(budget) {}
  Budget budget;
  model::Recording recording;             // stacks are those of the observer until it is written
  std::vector<int64_t> events, segments;  // of each device
  int64_t lost = 0;
};

class Observer {
 public:
  // There is one, never destroyed: threads may allocate while the process ends.
  static Observer& instance();

  // Errors: wrong_usage, with the reason why it cannot be recorded in this way; those of the journal.
  [[nodiscard]] Status begin(const gpustrata_observable& allocator, gpustrata_observed_stacks stacks,
                             const ObservedInto& into);
  [[nodiscard]] Status end();
  // Error: wrong_usage (nothing is recorded in memory, or what was told does not lead to the allocator's state), limit_exceeded.
  [[nodiscard]] Result<std::unique_ptr<Observation>> take();
  [[nodiscard]] Status write(Observation& observation, io::ByteSink& sink);
  // Null: none is written.
  [[nodiscard]] std::shared_ptr<ObservedJournal> journal();

  // Of the allocator's threads.
  void on_event(const gpustrata_observed_event& event);
  void on_region(std::string_view name, bool begins, int device, uint64_t time);

 private:
  struct RegionMark {
    StringId name;
    int32_t device = 0;
    bool begins = true;
    uint64_t time = 0;
  };
  using Visit =
      std::function<void(int device, DeviceHistory& history, const gpustrata_observed_event& entry)>;

  Observer();
  // No device is recorded any more.
  [[nodiscard]] Status forget();
  [[nodiscard]] StackId stack();
  [[nodiscard]] StringId text(const char* text, StringId otherwise);
  // `visit` of each device under its lock; `state` hears of segments. Error: not all devices, or not each once.
  [[nodiscard]] Status visit_all(const Visit& visit, const gpustrata_observed_state& state);

  std::mutex control_;  // begin, end, take: one at a time
  std::shared_ptr<ObservedJournal> journal_;
  std::optional<gpustrata_observable> allocator_;
  bool is_on_ = false;
  std::atomic<gpustrata_observed_stacks> stacks_wanted_{GPUSTRATA_STACKS_NONE};
  EvenClock clock_;
  Budget budget_;
  std::array<DeviceHistory, kMostObserved> devices_;
  RawStacks stacks_;
  Symbols symbols_;
  mutable std::mutex texts_lock_;  // of what follows
  std::shared_ptr<ObservedJournal> region_journal_;
  StringPool texts_;
  StringId empty_, no_context_;
  trace::RecorderRing<RegionMark> regions_;
  std::atomic<bool> regions_on_{false};
};

}  // namespace gpustrata::capture
