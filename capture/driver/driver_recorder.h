// What the program and its libraries take from the CUDA driver, in a journal as it happens.
//
// Each allocation is a segment with one block: no cache stands between. Pinned memory and managed memory, which lies where it
// is used, are rows of the host. One lock, under which nothing of the program runs and no other than those of the journal and of
// stacks is taken.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/driver/callers.h"
#include "capture/driver/recorder_api.h"
#include "capture/recorder/journal.h"
#include "capture/recorder/journal_stacks.h"
#include "capture/stacks/raw_stacks.h"
#include "engine/trace/trace_event.h"

namespace gpustrata::capture {

class DriverRecorder {
 public:
  // There is one, never destroyed: threads may allocate while the process ends.
  static DriverRecorder& instance();

  void begin(const gpustrata_driver_options& options);
  void allocated(gpustrata_driver_block block, const void* caller);
  [[nodiscard]] bool freeing(uint64_t address, gpustrata_driver_block& block);
  void kept(const gpustrata_driver_block& block);
  void refused(const gpustrata_driver_block& block, int64_t free_bytes);
  void ending(int device, uint64_t context);
  void not_ended();
  void created(uint64_t handle, const gpustrata_driver_block& block);
  [[nodiscard]] bool releasing(uint64_t handle, gpustrata_driver_block& block);
  void mapped(uint64_t address, int64_t size, uint64_t handle, const void* caller);
  void unmapped(uint64_t address, int64_t size);
  void found(int device, int64_t used_bytes, int64_t total_bytes);
  [[nodiscard]] int region(const char* name, int device);
  // Waits for the file to be closed, but not for ever: a handler of a signal may have called exit() in the middle of anything, and
  // whatever that holds, memory's locks too, is held until the process is gone. The file is as of a killed process then. False:
  // there is nothing to say of a file.
  [[nodiscard]] bool end();

 private:
  // Memory of cuMemCreate; `shown` is where it is told to lie, 0 = nowhere.
  struct Physical {
    gpustrata_driver_block block{};
    uint64_t shown = 0;
  };
  struct Mapping {
    int64_t size = 0;
    std::shared_ptr<Physical> of;
  };
  struct Who {
    StackId stack;  // of raw_
    uint64_t caller = 0;
  };
  // What a device has given, by who asked.
  struct Taken {
    struct Share {
      int32_t owner = -1;
      int64_t bytes = 0;
    };
    int64_t bytes = 0, peak = 0;
    std::vector<Share> now, at_peak;
    void add(int32_t owner, int64_t bytes);
  };
  class AddressRange {
   public:
    void hold_module_of(const void* address);
    [[nodiscard]] bool holds(uint64_t address) const { return address - begin_ < size_; }

   private:
    uint64_t begin_ = 0, size_ = 0;
  };

  DriverRecorder();
  [[nodiscard]] bool is_here() const;
  [[nodiscard]] Who gather(const void* caller);
  // Under lock_.
  [[nodiscard]] bool is_open();
  // Of a thread that waits for the end: the one that ends may hold anything.
  void start_ender();
  void close();
  void show(const gpustrata_driver_block& block);
  void hide(const gpustrata_driver_block& block, StackId stack);
  void ask_who(gpustrata_driver_block& block, const Who& who);
  [[nodiscard]] StringId owner(const Who& who);
  void event(trace::Action action, const gpustrata_driver_block& block, StackId stack, StringId metadata);
  void know(int device);
  void tell_facts();
  [[nodiscard]] std::string in_words() const;
  [[nodiscard]] StringId named(const std::string& name);
  [[nodiscard]] int64_t now_us();

  // Set by begin().
  std::string output_;
  int64_t max_size_ = 0;
  bool native_stacks_ = false;
  bool is_beside_ = false;
  AddressRange own_, preloaded_;

  enum class FileIs : uint8_t { none, open, failed };
  std::atomic<FileIs> file_{FileIs::none};
  sem_t end_asked_{}, end_done_{};

  RawStacks raw_;
  std::mutex lock_;  // of what follows
  bool ended_ = false;
  std::string path_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<JournalStacks> stacks_;
  Callers callers_;
  std::vector<int32_t> owners_;                       // by number in raw_
  std::unordered_map<uint64_t, StringId> by_caller_;  // without stacks
  std::unordered_map<uint64_t, gpustrata_driver_block> live_;
  std::vector<gpustrata_driver_block> ending_;  // with their contexts
  std::unordered_map<uint64_t, std::shared_ptr<Physical>> handles_;
  std::map<uint64_t, Mapping> mappings_;
  std::vector<bool> known_;                // devices whose state was told
  std::map<std::string, int64_t> facts_;   // of what was there before the first
  std::map<int32_t, int64_t> were_there_;  // bytes, by device
  std::map<int32_t, Taken> taken_;         // by device
  std::map<int32_t, std::string> names_;   // of owners
  StringId no_context_;
  int64_t real_minus_monotonic_us_ = 0;
  int64_t last_us_ = 0;
  int64_t events_ = 0;
};

}  // namespace gpustrata::capture
