// What was observed of one device: the newest events, and who asked for what lives that is older.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/gpustrata.h"
#include "engine/base/ids.h"
#include "engine/trace/recorder_ring.h"
#include "engine/trace/trace_event.h"

namespace gpustrata::capture {

[[nodiscard]] inline trace::PoolKey key_of(gpustrata_pool pool) {
  return {static_cast<int64_t>(pool.graph_id), static_cast<int64_t>(pool.user_id)};
}

// Who asked for what is there, by address: blocks in use, and pieces of device memory.
struct LiveStacks {
  std::unordered_map<uint64_t, StackId> blocks, segments;
  void add(const trace::TraceEvent& event);
};

class ObservedJournal;

class DeviceHistory {
 public:
  explicit DeviceHistory(Budget& budget) : events_(budget) {}

  void begin(int64_t max_entries);
  // Events go there instead.
  void begin(std::shared_ptr<ObservedJournal> journal);
  void end();
  [[nodiscard]] bool is_on() const { return is_on_; }
  [[nodiscard]] ObservedJournal* journal() const { return journal_.get(); }

  // Times are those of the fast clock.
  void add(const trace::TraceEvent& event) {
    if (events_.size() == events_.capacity()) older_.add(events_[0]);
    events_.push(event);
    if (trace::is_of_segment(event.action)) events_.prepare();
  }

  struct Copy {
    std::vector<trace::TraceEvent> events;  // oldest first
    LiveStacks older;                       // than those
    int64_t lost = 0;
    int64_t capacity = 0;
    bool has_all = false;  // the recording began when the device had no memory, and nothing is lost
  };
  [[nodiscard]] Copy copy() const;
  // Of the begin: whether memory was there already is known afterwards only.
  void begins_empty(bool empty) { begins_empty_ = empty; }

 private:
  trace::RecorderRing<trace::TraceEvent> events_;
  LiveStacks older_;
  std::shared_ptr<ObservedJournal> journal_;
  bool is_on_ = false;
  bool begins_empty_ = false;
};

}  // namespace gpustrata::capture
