// A journal that is being written: events, stacks and states of this process's allocators, in a file that survives its end.
//
//   auto journal = Journal::create("run.gpustrata", {});
//   const StackId stack = (*journal)->stack(frames);            // once, kept by whoever gathers stacks
//   (*journal)->event(device, event);                           // under the allocator's lock: a lock, a copy of 72 bytes
//
// Every call is safe from any thread, waits for no interpreter and takes no memory for what was told before. What is told is in
// the file's ring when the call returns, and there it stays if the process is killed. A thread of its own makes chunks of it; if
// that is too slow and the ring is full, the caller does its work: events are never dropped for speed. When writing becomes
// impossible (disk full, file removed) one line says why, what came before is kept, and calls do nothing more.
// In a forked child nothing is written: the journal is its parent's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "capture/recorder/journal_file.h"
#include "engine/base/status.h"
#include "engine/base/string_pool.h"
#include "engine/io/journal/chunker.h"
#include "engine/trace/stack_table.h"
#include "engine/trace/trace_event.h"

namespace gpustrata::capture {

struct JournalOptions {
  static constexpr int64_t kLeastSize = int64_t{1} << 20;
  int64_t max_size = int64_t{256} << 20;            // of the file; between a half and all of it is history
  void (*report)(std::string_view line) = nullptr;  // null: to stderr
};

class Journal {
 public:
  // Errors: wrong_usage (max_size below kLeastSize), io_error.
  [[nodiscard]] static Result<std::unique_ptr<Journal>> create(const std::string& path,
                                                               const JournalOptions& options);
  ~Journal();  // close()
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Names, told once each. None: there is no room for more of them, which is counted in the file.
  [[nodiscard]] StringId text(std::string_view text);
  [[nodiscard]] FrameId frame(std::string_view name, std::string_view filename, int32_t line);
  [[nodiscard]] StackId stack(std::span<const FrameId> frames_innermost_first);
  void fact(std::string_view key, std::string_view value);

  // Stacks and texts are the journal's. Those of one device come in the order of truth.
  void event(int device, const trace::TraceEvent& event);
  void region(int device, StringId name, bool begins, int64_t time_us);
  // All segments and live blocks of a device, as they are between two of its events (the allocator's lock is held).
  void state(int device, std::span<const io::journal::SegmentRecord> segments,
             std::span<const io::journal::BlockRecord> blocks);

  // Everything told so far becomes chunks; the file ends with the state. Later calls do nothing.
  void close();
  // Whether the oldest events are gone from the file.
  [[nodiscard]] bool is_cut();
  [[nodiscard]] bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }

 private:
  Journal(JournalFile file, const JournalOptions& options);

  [[nodiscard]] bool is_mine() const;
  // Under lock_.
  template <typename Record>
  [[nodiscard]] bool put(const Record& record, std::span<const std::byte> more = {});
  [[nodiscard]] bool make_room(uint64_t bytes);
  template <typename Record>
  [[nodiscard]] bool put_name(const Record& record, std::span<const std::byte> more = {});
  [[nodiscard]] StringId text_locked(std::string_view text);
  template <typename Id, typename Tell>
  [[nodiscard]] Id told(Id id, int32_t& count, const Tell& tell);

  void run();
  void drain();
  [[nodiscard]] bool begin_region(uint64_t position, uint64_t wanted);
  void stop(std::string_view why);

  JournalFile file_;
  void (*report_)(std::string_view);
  uint64_t forks_;  // of this process, when it was made

  std::mutex lock_;      // of all that tell
  uint64_t events_ = 0;  // told
  uint64_t head_ = 0;
  uint64_t next_wake_ = 0;  // position at which the thread is woken
  bool lost_ = false;       // something found no room: nothing that comes later is told, or there were a hole
  Budget names_budget_;
  StringPool texts_;
  trace::FrameTable frames_;
  trace::StackTable stacks_;
  int32_t told_texts_ = 0, told_frames_ = 0, told_stacks_ = 0;
  uint64_t name_bytes_ = 0;

  std::mutex draining_;  // of what follows; taken with lock_ held, never the other way
  Budget budget_;
  io::journal::Chunker chunker_;
  Column<std::byte> records_, chunks_;
  uint64_t tail_ = 0;
  uint64_t generation_ = 0, used_ = 0;  // of the region that is being filled

  std::atomic<bool> stopped_{false};
  std::mutex waking_;
  std::condition_variable wake_;
  bool ending_ = false;
  bool closed_ = false;
  std::thread thread_;
};

// Hands the events of a device on.
class JournalSink final : public trace::EventSink {
 public:
  JournalSink(Journal& journal, int device) : journal_(journal), device_(device) {}
  void on_event(const trace::TraceEvent& event) override { journal_.event(device_, event); }

 private:
  Journal& journal_;
  int device_;
};

}  // namespace gpustrata::capture
