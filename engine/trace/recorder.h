// Keeps the history of allocators: events of each device, annotations of regions, texts and stacks.
//
//   Recorder recorder(clock, budget);
//   recorder.record_memory_history({});                     // as torch.cuda.memory._record_memory_history()
//   DeviceAllocator allocator(device, 0, config, &recorder.device(0), budget);
//   ... origin.stack = recorder.wants_stack(StackLevel::state) ? recorder.stack(frames) : StackId();
//
// A snapshot of it and of the allocators' state is a Recording: model/recorded_snapshot.h.
//
// Threads: none here. Events of a device come under the lock of its allocator; everything else, interning and
// record_memory_history too, needs one lock for all. What an event needs is read only then: the settings and
// the texts of set_user_metadata() and set_compile_context(), which the caller sets for its thread under the
// lock.
// Memory is charged to the budget. Texts and stacks are interned once and kept for the life of the recorder;
// when the budget refuses one, it is none, as if it had not been gathered, and counted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/string_pool.h"
#include "engine/trace/record_options.h"
#include "engine/trace/recorder_ring.h"
#include "engine/trace/stack_table.h"
#include "engine/trace/trace_event.h"

namespace gpustrata::trace {

// The engine knows no operating system: the time comes from outside.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual int64_t now_us() = 0;  // since the Unix epoch
};

// Begin or end of a region that the program named (external_annotations).
struct RegionMark {
  StringId name;
  int32_t device = 0;  // the current one of the thread
  bool begins = true;
  int64_t time_us = 0;
};

class Recorder;

// The history of one device.
class DeviceRecorder final : public EventSink {
 public:
  DeviceRecorder(const Recorder& recorder, Clock& clock, Budget& budget)
      : recorder_(recorder), clock_(clock), events_(budget) {}

  // Adds time and texts, drops what the settings say. An event's own metadata goes before the thread's.
  void on_event(const TraceEvent& event) override;
  // Text attached to a live block. Address, size (requested), stream and pool are the block's.
  void annotate(const TraceEvent& block, StringId text);
  // Makes room ahead of its use; to be called where time does not matter. Events that come with a call of the
  // device do it, too.
  void prepare() { events_.prepare(); }

  [[nodiscard]] const RecorderRing<TraceEvent>& events() const { return events_; }

 private:
  friend class Recorder;

  const Recorder& recorder_;
  Clock& clock_;
  RecorderRing<TraceEvent> events_;
};

class Recorder {
 public:
  // Nothing is recorded until record_memory_history() is called.
  Recorder(Clock& clock, Budget& budget);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // With PyTorch's meanings: none stops and forgets the history; calling it again keeps what is there unless
  // clear_history; stacks of live blocks stay in any case. Error: wrong_usage, nothing changed.
  [[nodiscard]] Status record_memory_history(const RecordOptions& options);
  [[nodiscard]] const RecordSettings& settings() const { return settings_; }
  // Is a stack worth gathering? For a malloc ask with `state`, for a free or empty_cache with `all`.
  [[nodiscard]] bool wants_stack(StackLevel level) const {
    return settings_.enabled && settings_.level >= level;
  }

  // Of devices 0 to `ordinal`; the address stays.
  [[nodiscard]] DeviceRecorder& device(int ordinal);
  [[nodiscard]] std::span<const std::unique_ptr<DeviceRecorder>> devices() const { return devices_; }

  // Interning. None if the budget refuses, see lost_stacks().
  [[nodiscard]] StringId text(std::string_view text) { return strings_.intern(text); }
  [[nodiscard]] FrameId frame(std::string_view name, std::string_view filename, int32_t line);
  [[nodiscard]] StackId stack(std::span<const FrameId> frames_innermost_first);
  [[nodiscard]] int64_t lost_stacks() const { return lost_stacks_; }

  // Put on every event from now on. "" = none.
  void set_user_metadata(std::string_view text) { user_metadata_ = this->text(text); }
  // Used if the settings ask for it. "" = none.
  void set_compile_context(std::string_view region) {
    compile_context_ = this->text(region.empty() ? "N/A" : region);
  }
  [[nodiscard]] StringId user_metadata() const { return user_metadata_; }
  [[nodiscard]] StringId compile_context() const {
    return settings_.compile_context ? compile_context_ : no_context_;
  }

  // Regions of the program. They may nest and need not be balanced.
  void begin_region(std::string_view name, int32_t device) { mark_region(name, device, true); }
  void end_region(std::string_view name, int32_t device) { mark_region(name, device, false); }

  [[nodiscard]] const RecorderRing<RegionMark>& regions() const { return regions_; }
  [[nodiscard]] const StringPool& strings() const { return strings_; }
  [[nodiscard]] const FrameTable& frames() const { return frames_; }
  [[nodiscard]] const StackTable& stacks() const { return stacks_; }

 private:
  void mark_region(std::string_view name, int32_t device, bool begins);

  Clock& clock_;
  Budget& budget_;
  StringPool strings_{budget_};
  FrameTable frames_{budget_};
  StackTable stacks_{budget_};
  RecordSettings settings_;
  StringId user_metadata_, compile_context_, no_context_;
  std::vector<std::unique_ptr<DeviceRecorder>> devices_;
  RecorderRing<RegionMark> regions_{budget_};
  int64_t lost_stacks_ = 0;
};

}  // namespace gpustrata::trace
