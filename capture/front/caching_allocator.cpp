#include "capture/front/caching_allocator.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "capture/cuda/cuda_device.h"
#include "capture/front/report.h"
#include "capture/front/thread_state.h"
#include "capture/stacks/cpp_stack.h"
#include "capture/stacks/python_stack.h"
#include "engine/alloc/known_settings.h"
#include "engine/alloc/simulated_device.h"

namespace gpustrata::capture {

using alloc::DeviceAllocator;
using trace::StackLevel;

namespace {

// Deeper stacks lose their outermost frames.
constexpr size_t kMostFrames = 512;
// What the tables of one device may take: as much as there is, the machine's memory is the limit.
constexpr int64_t kTableBytes = int64_t{1} << 46;
constexpr std::array<const char*, 3> kSettingsVariables = {"PYTORCH_CUDA_ALLOC_CONF",
                                                           "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};

std::atomic<bool> g_in_use{false};  // something of the driver may have begun
std::atomic<bool> g_forked{false};  // this process is a child that was forked after that

// Python may run code, and so free memory, while a stack is gathered: that one goes without. An ending
// interpreter unwinds the thread from within.
thread_local bool t_gathering = false;
thread_local bool t_without_python = false;
struct Gathering {
  Gathering() { t_gathering = true; }
  ~Gathering() { t_gathering = false; }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;
};

// An unlimited history ends at half of the machine's memory; what is older is lost then, and counted.
[[nodiscard]] int64_t history_bytes() {
  return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / 2;  // neither fails on Linux
}

[[nodiscard]] std::string address_text(uint64_t address) { return fmt::format("{:#x}", address); }

}  // namespace

thread_local StringId t_user_metadata;

CachingAllocator& CachingAllocator::instance() {
  static CachingAllocator& only = *new CachingAllocator();
  return only;
}

CachingAllocator::CachingAllocator()
    : history_budget_(history_bytes()),
      recorder_(clock_, history_budget_),
      stacks_(history_bytes() / 2, name_python_frame, keep_python_code) {
  for (const char* const variable : kSettingsVariables) {
    const char* const settings = std::getenv(variable);
    if (settings == nullptr) continue;
    const auto unknown = alloc::apply_known_settings(config_, settings);
    if (!unknown) report(fmt::format("{} is ignored: {}", variable, unknown.error().message));
    if (unknown && !unknown->empty())
      report(fmt::format("{}: {} is not known here and ignored; the rest counts", variable,
                         fmt::join(*unknown, ", ")));
    break;
  }
  (void)pthread_atfork(nullptr, nullptr, [] {
    if (g_in_use.load()) g_forked.store(true);
  });
}

bool CachingAllocator::in_forked_child() { return g_forked.load(std::memory_order_relaxed); }

Status CachingAllocator::refuse_in_child() const {
  if (!in_forked_child()) return {};
  return fail(ErrorCode::wrong_usage, -1,
              "CUDA memory cannot be used in a forked child process; start it with `spawn` instead, or use "
              "CUDA only after the fork");
}

// --- Devices
// ---------------------------------------------------------------------------------------------------

Status CachingAllocator::use_simulated_device(int64_t bytes) {
  const std::lock_guard guard(opening_);
  if (opened_)
    return fail(ErrorCode::wrong_usage, -1, "a simulated device must be asked for before the first use");
  if (bytes < 1) return fail(ErrorCode::wrong_usage, -1, "a simulated device has more than 0 bytes");
  simulated_bytes_ = bytes;
  return {};
}

Status CachingAllocator::open() {
  if (!opened_.load(std::memory_order_acquire)) {
    g_in_use = true;
    const std::lock_guard guard(opening_);
    if (!opened_) {
      int count = 1;
      if (simulated_bytes_ == 0) {
        const Result<cuda::DriverApi>& driver = cuda::driver();
        if (driver) {
          count = driver->devices;
        } else {
          open_status_ = tl::unexpected(driver.error());
          count = 0;
        }
      }
      for (int i = 0; i < count; ++i) devices_.push_back(std::make_unique<Device>(kTableBytes));
      opened_.store(true, std::memory_order_release);
    }
  }
  return open_status_;
}

int CachingAllocator::device_count() { return open() ? static_cast<int>(devices_.size()) : 0; }

std::string CachingAllocator::device_text() {
  if (const Status opened = open(); !opened) return opened.error().message;
  return simulated_bytes_ > 0
             ? fmt::format("a simulated device of {} bytes: addresses without memory", simulated_bytes_)
             : cuda::driver_text();
}

Result<CachingAllocator::Device*> CachingAllocator::use(int device) {
  if (const Status usable = refuse_in_child(); !usable) return tl::unexpected(usable.error());
  if (const Status opened = open(); !opened) return tl::unexpected(opened.error());
  if (device < 0 || static_cast<size_t>(device) >= devices_.size())
    return fail(ErrorCode::wrong_usage, -1, "there is no device {}: {}", device, device_text());
  return devices_[static_cast<size_t>(device)].get();
}

// Under the device's lock.
Status CachingAllocator::open_device(Device& device, int ordinal) {
  if (device.allocator) return {};
  if (simulated_bytes_ > 0) {
    device.memory = std::make_unique<alloc::SimulatedDevice>(simulated_bytes_);
  } else {
    auto opened = cuda::CudaDevice::open(*cuda::driver(), ordinal);
    if (!opened) return tl::unexpected(opened.error());
    device.unreachable = (*opened)->add_all_peers();
    device.memory = std::move(*opened);
  }
  alloc::Config config;
  {
    const std::lock_guard guard(settings_lock_);
    config = config_;
  }
  if (!device.unreachable.empty() && config.expandable_segments) {
    config.expandable_segments = false;
    tell_of_unreachable(device, ordinal);
  }
  {
    const std::lock_guard guard(recorder_lock_);
    device.told = std::make_unique<JournaledDevice>(recorder_, recorder_.device(ordinal), ordinal);
    if (journal_) {
      journal_->journal->state(ordinal, {}, {});
      device.told->tell(journal_);
    }
  }
  device.allocator =
      std::make_unique<DeviceAllocator>(*device.memory, ordinal, config, device.told.get(), device.budget);
  for (; device.flushes > 0; --device.flushes) device.allocator->empty_cache();
  return {};
}

void CachingAllocator::tell_of_unreachable(const Device& device, int ordinal) {
  report(fmt::format("device {}: no expandable segments, since device {} cannot reach them (no peer access)",
                     ordinal, fmt::join(device.unreachable, ", ")));
}

template <typename Action>
auto CachingAllocator::on_device(int device, Action&& action) -> decltype(action(std::declval<Device&>())) {
  const Result<Device*> used = use(device);
  if (!used) return tl::unexpected(used.error());
  const std::lock_guard guard((*used)->lock);
  if (const Status opened = open_device(**used, device); !opened) return tl::unexpected(opened.error());
  return action(**used);
}

// --- Memory
// ----------------------------------------------------------------------------------------------------

alloc::Origin CachingAllocator::origin(StackLevel level) {
  alloc::Origin who;
  who.metadata = t_user_metadata;
  if (stack_level_.load(std::memory_order_relaxed) < static_cast<int>(level) || t_gathering) return who;
  const Gathering gathering;
  uint64_t addresses[kMostFrames];
  PythonFrame python[kMostFrames];
  RawStack stack;
  if (!python_only_.load(std::memory_order_relaxed))
    stack.addresses = {addresses, gather_cpp_stack(addresses)};
  if (t_without_python) {
    who.stack = stacks_.intern(stack);
    return who;
  }
  {
    const PythonLock lock;
    if (lock.held()) stack.python = {python, gather_python_stack(python)};
    who.stack = stacks_.intern(stack);
  }
  return who;
}

WithoutPython::WithoutPython() : before_(std::exchange(t_without_python, true)) {}
WithoutPython::~WithoutPython() { t_without_python = before_; }

Result<uint64_t> CachingAllocator::malloc(size_t bytes, int device, int64_t stream) {
  if (bytes == 0) return uint64_t{0};
  if (const Status usable = refuse_in_child(); !usable) return tl::unexpected(usable.error());
  const alloc::Origin who = origin(StackLevel::state);
  // What does not fit in 63 bits is out of memory, as anything that large.
  const auto size = static_cast<int64_t>(bytes >> 63 != 0 ? SIZE_MAX >> 1 : bytes);
  Result<uint64_t> address =
      on_device(device, [&](Device& used) { return used.allocator->malloc(size, stream, who); });
  if (!address && address.error().code == ErrorCode::out_of_memory) dump_after_oom();
  return address;
}

Result<CachingAllocator::Device*> CachingAllocator::lock_owner(uint64_t address, int first,
                                                               std::unique_lock<std::mutex>& guard) {
  if (const Status usable = refuse_in_child(); !usable) return tl::unexpected(usable.error());
  if (opened_.load(std::memory_order_acquire)) {
    const auto count = static_cast<int>(devices_.size());
    const int start = first >= 0 && first < count ? first : 0;
    for (int i = 0; i < count; ++i) {
      Device& device = *devices_[static_cast<size_t>((start + i) % count)];
      // The previous one is unlocked first: two at a time could wait for each other.
      guard = {};
      guard = std::unique_lock(device.lock);
      if (device.allocator && !device.allocator->state().live_block_at(address).is_none()) return &device;
    }
    guard = {};
  }
  return fail(ErrorCode::wrong_usage, -1,
              "no allocation starts at {}: it was freed before, or is not this allocator's",
              address_text(address));
}

Status CachingAllocator::free(uint64_t address, int device) {
  if (address == 0) return {};
  if (Status usable = refuse_in_child(); !usable) return usable;
  const alloc::Origin who = origin(StackLevel::all);
  std::unique_lock<std::mutex> guard;
  const Result<Device*> owner = lock_owner(address, device, guard);
  if (!owner) return tl::unexpected(owner.error());
  Status freed = (*owner)->allocator->free(address, who);
  if (!freed)
    return fail(freed.error().code, -1, "the allocation at {} was freed before", address_text(address));
  return freed;
}

Status CachingAllocator::record_stream(uint64_t address, int64_t stream) {
  std::unique_lock<std::mutex> guard;
  const Result<Device*> owner = lock_owner(address, -1, guard);
  if (!owner) return tl::unexpected(owner.error());
  return (*owner)->allocator->record_stream(address, stream);
}

Status CachingAllocator::empty_cache() {
  if (Status usable = refuse_in_child(); !usable) return usable;
  if (!opened_.load(std::memory_order_acquire)) return {};
  const alloc::Origin who = origin(StackLevel::all);
  for (const auto& device : devices_) {
    const std::lock_guard guard(device->lock);
    if (device->allocator) {
      device->allocator->empty_cache({}, who);
    } else {
      ++device->flushes;
    }
  }
  return {};
}

Result<DeviceAllocator::BaseAllocation> CachingAllocator::base_allocation(uint64_t address) {
  if (const Status usable = refuse_in_child(); !usable) return tl::unexpected(usable.error());
  if (opened_.load(std::memory_order_acquire)) {
    for (const auto& device : devices_) {
      const std::lock_guard guard(device->lock);
      if (!device->allocator || device->allocator->state().segment_containing(address).is_none()) continue;
      return device->allocator->base_allocation(address);
    }
  }
  return fail(ErrorCode::wrong_usage, -1, "no allocation holds the address {}", address_text(address));
}

Status CachingAllocator::enable_peer_access(int device, int peer) {
  if (const Result<Device*> other = use(peer); !other) return tl::unexpected(other.error());
  return on_device(device, [&](Device& used) {
    auto* const memory = dynamic_cast<cuda::CudaDevice*>(used.memory.get());
    return memory == nullptr ? Status() : memory->add_peer(peer);
  });
}

// --- Settings
// --------------------------------------------------------------------------------------------------

Status CachingAllocator::set_config(std::string_view settings) {
  if (Status usable = refuse_in_child(); !usable) return usable;
  {
    const std::lock_guard guard(settings_lock_);
    if (Status applied = alloc::apply_settings(config_, settings); !applied) return applied;
  }
  if (!opened_.load(std::memory_order_acquire)) return {};
  int ordinal = -1;
  for (const auto& device : devices_) {
    ++ordinal;
    const std::lock_guard guard(device->lock);
    if (!device->allocator) continue;
    if (Status applied = device->allocator->set_config(settings); !applied) return applied;
    if (device->unreachable.empty() || !device->allocator->config().expandable_segments) continue;
    const std::string without = fmt::format("{},expandable_segments:False", settings);
    if (Status applied = device->allocator->set_config(without); !applied) return applied;
    tell_of_unreachable(*device, ordinal);
  }
  return {};
}

Status CachingAllocator::set_free_order(std::string_view name) {
  if (Status usable = refuse_in_child(); !usable) return usable;
  const auto order = alloc::free_order_of(name);
  if (!order)
    return fail(ErrorCode::wrong_usage, -1,
                "the order of free blocks must be address, block_number or segment_age, not '{}'", name);
  if (opened_.load(std::memory_order_acquire))
    return fail(ErrorCode::wrong_usage, -1,
                "the order of free blocks can only be chosen before a device is used");
  const std::lock_guard guard(settings_lock_);
  config_.free_order = *order;
  return {};
}

Status CachingAllocator::set_memory_fraction(double fraction, int device) {
  return on_device(device, [&](Device& used) { return used.allocator->set_memory_fraction(fraction); });
}

Result<double> CachingAllocator::memory_fraction(int device) {
  return on_device(device, [](Device& used) -> Result<double> { return used.allocator->memory_fraction(); });
}

// --- Private pools
// ---------------------------------------------------------------------------------------------

Status CachingAllocator::begin_allocate_to_pool(int device, trace::PoolKey pool,
                                                DeviceAllocator::StreamFilter accepts) {
  return on_device(
      device, [&](Device& used) { return used.allocator->begin_allocate_to_pool(pool, std::move(accepts)); });
}

Status CachingAllocator::end_allocate_to_pool(int device, trace::PoolKey pool) {
  return on_device(device, [&](Device& used) { return used.allocator->end_allocate_to_pool(pool); });
}

Status CachingAllocator::release_pool(int device, trace::PoolKey pool) {
  return on_device(device, [&](Device& used) { return used.allocator->release_pool(pool); });
}

Status CachingAllocator::with_device(int device, const std::function<Status(DeviceAllocator&)>& action) {
  return on_device(device, [&](Device& used) { return action(*used.allocator); });
}

int64_t CachingAllocator::block_size(uint64_t address) {
  std::unique_lock<std::mutex> guard;
  const Result<Device*> owner = lock_owner(address, -1, guard);
  if (!owner) return 0;
  const alloc::MemoryState& state = (*owner)->allocator->state();
  return state.block(state.live_block_at(address)).size;
}

// --- Questions
// -------------------------------------------------------------------------------------------------

// A device that was never used must not get a context by a question.
Result<alloc::MemoryStats> CachingAllocator::stats(int device) {
  const Result<Device*> used = use(device);
  if (!used) return tl::unexpected(used.error());
  const std::lock_guard guard((*used)->lock);
  if ((*used)->allocator) return (*used)->allocator->stats();
  alloc::MemoryStats unused;
  unused.num_sync_all_streams = (*used)->flushes;
  return unused;
}

Status CachingAllocator::reset_peak_stats(int device) {
  return on_device(device, [](Device& used) {
    used.allocator->reset_peak_stats();
    return Status();
  });
}

Status CachingAllocator::reset_accumulated_stats(int device) {
  return on_device(device, [](Device& used) {
    used.allocator->reset_accumulated_stats();
    return Status();
  });
}

Result<alloc::DeviceMemoryInfo> CachingAllocator::memory_info(int device) {
  return on_device(device,
                   [](Device& used) -> Result<alloc::DeviceMemoryInfo> { return used.memory->info(); });
}

}  // namespace gpustrata::capture
