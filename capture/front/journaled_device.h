// What a device's history keeps, told to a journal as well.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "capture/recorder/journal.h"
#include "capture/recorder/journal_stacks.h"
#include "engine/alloc/memory_state.h"
#include "engine/trace/recorder.h"

namespace gpustrata::capture {

// A journal, and what this process's numbers are in it.
struct KeptJournal {
  KeptJournal(std::unique_ptr<Journal> to, const RawStacks& raw)
      : journal(std::move(to)), stacks(*journal, raw) {}

  // A text of the recorder, under any lock; before an event has it.
  void note_text(StringId id, std::string_view text);
  [[nodiscard]] StringId text(StringId id);
  // What is there: under the lock of the device.
  void tell_state(int device, const alloc::MemoryState& state);

  std::unique_ptr<Journal> journal;
  JournalStacks stacks;

 private:
  std::mutex texts_lock_;
  std::vector<StringId> texts_;  // by number in the recorder
};

// Between an allocator and its history. All of it under the lock of the device.
class JournaledDevice final : public trace::EventSink {
 public:
  JournaledDevice(const trace::Recorder& recorder, trace::DeviceRecorder& history, int device)
      : recorder_(recorder), history_(history), device_(device) {}

  void on_event(const trace::TraceEvent& event) override {
    history_.on_event(event);
    if (journal_ != nullptr) tell_newest(event.action);
  }
  // The history got an event of this kind: the journal gets what it kept, with its time and texts.
  void tell_newest(trace::Action action);
  void tell(std::shared_ptr<KeptJournal> journal) { journal_ = std::move(journal); }
  [[nodiscard]] bool is_journaled() const { return journal_ != nullptr; }

 private:
  const trace::Recorder& recorder_;
  trace::DeviceRecorder& history_;
  int device_;
  std::shared_ptr<KeptJournal> journal_;
};

}  // namespace gpustrata::capture
