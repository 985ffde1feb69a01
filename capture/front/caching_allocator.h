// The engine's allocator as this process's CUDA allocator: devices, locks, threads, history.
//
// One lock per device covers its DeviceAllocator and its history. What concerns all devices (settings, texts,
// dump) takes all device locks in ascending order, then the recorder's. Stacks are gathered before any lock
// is taken. malloc and free of cached memory take no memory of the process.
//
// There is one, made on first use and never destroyed: other threads may allocate and free while the process
// ends. In a forked child CUDA does not work, so every call fails there with a clear message and touches no
// lock; the parent goes on as if nothing had happened.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/front/journaled_device.h"
#include "capture/recorder/wall_clock.h"
#include "capture/stacks/raw_stacks.h"
#include "capture/stacks/symbols.h"
#include "engine/alloc/device_allocator.h"
#include "engine/base/status.h"
#include "engine/io/byte_sink.h"
#include "engine/model/recording.h"
#include "engine/trace/recorder.h"

namespace gpustrata::capture {

// For the names of a dump's stacks; the official recorder may take minutes here.
inline constexpr double kNamingSeconds = 60;

// While it lives, the calling thread never waits for Python's lock: stacks have no Python frames.
class WithoutPython {
 public:
  WithoutPython();
  ~WithoutPython();
  WithoutPython(const WithoutPython&) = delete;
  WithoutPython& operator=(const WithoutPython&) = delete;

 private:
  bool before_;
};

class CachingAllocator {
 public:
  // Of a process that used CUDA: nothing works here, and frees concern memory of the parent.
  [[nodiscard]] static bool in_forked_child();

  // Devices are looked for on first need, see open().
  static CachingAllocator& instance();

  // Before first use: one device without memory behind its addresses, instead of the driver's. Error:
  // wrong_usage (in use already).
  [[nodiscard]] Status use_simulated_device(int64_t bytes);
  // Loads the driver and counts devices, once. Error: no driver, no device.
  [[nodiscard]] Status open();
  [[nodiscard]] int device_count();
  // Which devices these are, in words.
  [[nodiscard]] std::string device_text();

  // --- Memory. `stream` is a cudaStream_t.
  // -------------------------------------------------------------------

  // Null for 0 bytes. Errors as DeviceAllocator::malloc.
  [[nodiscard]] Result<uint64_t> malloc(size_t bytes, int device, int64_t stream);
  // `device` is tried first, below 0: unknown. Error: wrong_usage (no allocation starts there).
  [[nodiscard]] Status free(uint64_t address, int device);
  // Error: wrong_usage (no allocation starts there): PyTorch ignores that, see the callers.
  [[nodiscard]] Status record_stream(uint64_t address, int64_t stream);
  [[nodiscard]] Status empty_cache();
  [[nodiscard]] Result<alloc::DeviceAllocator::BaseAllocation> base_allocation(uint64_t address);
  // `peer` may use expandable segments of `device`.
  [[nodiscard]] Status enable_peer_access(int device, int peer);

  // --- Settings
  // ------------------------------------------------------------------------------------------------

  // PYTORCH_CUDA_ALLOC_CONF's grammar, for all devices.
  [[nodiscard]] Status set_config(std::string_view settings);
  // alloc::FreeOrder by its name. Error: wrong_usage (no such name, a device is in use).
  [[nodiscard]] Status set_free_order(std::string_view name);
  [[nodiscard]] Status set_memory_fraction(double fraction, int device);
  [[nodiscard]] Result<double> memory_fraction(int device);

  // --- Private pools
  // -------------------------------------------------------------------------------------------

  [[nodiscard]] Status begin_allocate_to_pool(int device, trace::PoolKey pool,
                                              alloc::DeviceAllocator::StreamFilter accepts);
  [[nodiscard]] Status end_allocate_to_pool(int device, trace::PoolKey pool);
  [[nodiscard]] Status release_pool(int device, trace::PoolKey pool);

  // `action(alloc::DeviceAllocator&)`, which returns a Status, under the device's lock.
  template <typename Action>
  [[nodiscard]] Status with_allocator(int device, Action&& action) {
    return with_device(device, std::function<Status(alloc::DeviceAllocator&)>(std::forward<Action>(action)));
  }
  [[nodiscard]] bool is_recording() const { return recording_.load(std::memory_order_relaxed); }
  // The block that starts there, in bytes; 0 = none does.
  [[nodiscard]] int64_t block_size(uint64_t address);

  // --- History
  // -------------------------------------------------------------------------------------------------

  [[nodiscard]] Status record_memory_history(const trace::RecordOptions& options);
  // Of the calling thread, put on its events from now on; "" = none.
  [[nodiscard]] Status set_user_metadata(std::string_view text);
  [[nodiscard]] Status begin_region(std::string_view name, int device);
  // The innermost open region of the thread. Error: wrong_usage (none is open).
  [[nodiscard]] Status end_region(int device);
  // A text in the history of the live block that starts here.
  [[nodiscard]] Status annotate(uint64_t address, std::string_view text);

  // The snapshot as a pickle. Allocations of other threads wait while tables are copied, not while stacks get
  // their names and bytes are written. `seconds` for names, then addresses stay numbers.
  [[nodiscard]] Status dump(io::ByteSink& sink, double seconds);
  // To a new file beside `path` that takes its place when it is complete. Errors: io_error, limit_exceeded.
  [[nodiscard]] Status dump_to_file(const std::string& path);
  // Every out of memory dumps there: PATH, then PATH with .1, .2, ... before the suffix. "" = off.
  [[nodiscard]] Status set_oom_dump(std::string_view path);
  // From now on what the history records goes to the file, too, as it happens; one journal at a time, another takes its
  // place. Errors: wrong_usage (nothing is recorded, or not every action), io_error.
  [[nodiscard]] Status begin_journal(const std::string& path, int64_t max_size);
  [[nodiscard]] Status end_journal();

  // --- Questions
  // -----------------------------------------------------------------------------------------------

  // torch.cuda.memory_stats() of the device; all 0 before it was used, but for caches emptied.
  [[nodiscard]] Result<alloc::MemoryStats> stats(int device);
  [[nodiscard]] Status reset_peak_stats(int device);
  [[nodiscard]] Status reset_accumulated_stats(int device);
  [[nodiscard]] Result<alloc::DeviceMemoryInfo> memory_info(int device);

 private:
  struct Device {
    explicit Device(int64_t table_bytes) : budget(table_bytes) {}
    std::mutex lock;
    Budget budget;
    std::unique_ptr<alloc::DeviceMemory> memory;  // null until the device is used
    std::vector<int> unreachable;  // devices that cannot use its expandable segments: it makes none then
    std::unique_ptr<JournaledDevice> told;  // by the allocator
    std::unique_ptr<alloc::DeviceAllocator> allocator;
    int flushes = 0;  // before it was used: PyTorch's devices are there, and count them, once CUDA has begun
  };
  class AllLocks;  // every device's and the recorder's, while it lives

  CachingAllocator();
  // A usable device of this number: not in a forked child, driver there, number in range, memory opened.
  [[nodiscard]] Result<Device*> use(int device);
  [[nodiscard]] Status refuse_in_child() const;
  [[nodiscard]] Status open_device(Device& device, int ordinal);
  static void tell_of_unreachable(const Device& device, int ordinal);
  // What `action` returns, with the opened device under its lock.
  template <typename Action>
  [[nodiscard]] auto on_device(int device, Action&& action) -> decltype(action(std::declval<Device&>()));
  // The device of the live block that starts at `address`, locked.
  [[nodiscard]] Result<Device*> lock_owner(uint64_t address, int first, std::unique_lock<std::mutex>& guard);
  [[nodiscard]] alloc::Origin origin(trace::StackLevel level);
  [[nodiscard]] Status with_device(int device, const std::function<Status(alloc::DeviceAllocator&)>& action);
  void dump_after_oom();
  [[nodiscard]] std::shared_ptr<KeptJournal> take_journal();
  void tell_region(std::string_view name, int device, bool begins);
  [[nodiscard]] Result<std::unique_ptr<model::Recording>> copy_state(Budget& budget);

  std::mutex opening_;  // of driver and devices
  std::atomic<bool> opened_{false};
  Status open_status_;
  int64_t simulated_bytes_ = 0;                   // 0 = the driver's devices
  std::vector<std::unique_ptr<Device>> devices_;  // fixed once opened
  std::mutex settings_lock_;
  alloc::Config config_;  // for devices that are not used yet

  WallClock clock_;
  Budget history_budget_;
  std::mutex recorder_lock_;
  trace::Recorder recorder_;
  RawStacks stacks_;
  Symbols symbols_;
  std::shared_ptr<KeptJournal> journal_;  // under recorder_lock_; null = none
  // recorder_.settings() as a malloc needs it before it has a lock.
  std::atomic<int> stack_level_{0};  // a trace::StackLevel, none while not recording
  std::atomic<bool> python_only_{false};
  std::atomic<bool> recording_{false};
  std::mutex oom_lock_;
  std::string oom_path_;
  int oom_dumps_ = 0;
};

}  // namespace gpustrata::capture
