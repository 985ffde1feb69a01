// PyTorch's allocator class over libgpustrata_capture.so, compiled against the PyTorch that runs (_companion.py).
//
// The plain hooks of CUDAPluggableAllocator cannot do what its C++ class refuses: the error of out of memory that
// PyTorch's own code waits for, what is cached (cuDNN's benchmark), pools that exist before they are used, checkpoints of
// pools (CUDA graph trees), memory of other processes, the profiler's view of memory. This class does them and leaves the
// rest to PyTorch's.
//
// One source for all versions from 2.5: functions have no `override`, so that one which a version does not know is
// merely not called, and where the parameters changed there are both.
#include <c10/core/Allocator.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <dlfcn.h>
#include <torch/csrc/cuda/CUDAPluggableAllocator.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <gpustrata.h>  // the library's header

namespace {

namespace native = c10::cuda::CUDACachingAllocator;
using Base = torch::cuda::CUDAPluggableAllocator::CUDAPluggableAllocator;
using c10::DeviceIndex;
using c10::cuda::MempoolId_t;
using StreamFilter = std::function<bool(cudaStream_t)>;

// The library's functions, by name: it is loaded already, and not linked to.
// (A list of macros is indented anew each time it is formatted.)
// clang-format off
#define GPUSTRATA_OF_COMPANION(F) \
  F(last_error) \
  F(malloc) \
  F(free) \
  F(pool_begin) \
  F(pool_end) \
  F(pool_release) \
  F(pool_retain) \
  F(pool_users) \
  F(pool_use_on_oom) \
  F(pool_no_split) \
  F(pool_empty) \
  F(pool_allocations) \
  F(pool_checkpoint) \
  F(pool_restore) \
  F(free_checkpoint) \
  F(checkpoint_pool) \
  F(capture_begin) \
  F(capture_end) \
  F(put_off_by_captures_only) \
  F(largest_cached_block) \
  F(memory_usage) \
  F(memory_info) \
  F(block_size) \
  F(is_recording) \
  F(base_allocation) \
  F(enable_peer_access) \
  F(get_memory_fraction) \
  F(hook_init) \
  F(hook_reset) \
  F(hook_memory_fraction) \
  F(hook_base_alloc) \
  F(hook_record_stream)
// clang-format on
struct Library {
#define MEMBER(name) decltype(&gpustrata_##name) name = nullptr;
  GPUSTRATA_OF_COMPANION(MEMBER)
#undef MEMBER
  // PyTorch's filters are C++ objects: the hook takes them, see pluggable.cpp.
  void (*hook_begin_allocate_to_pool)(int, MempoolId_t, std::function<bool(void*)>) = nullptr;

  void load(const char* path) {
    void* const handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    TORCH_CHECK(handle != nullptr, path, " is not loaded");
#define LOAD(name) find(handle, "gpustrata_" #name, name);
    GPUSTRATA_OF_COMPANION(LOAD)
#undef LOAD
    find(handle, "gpustrata_hook_begin_allocate_to_pool", hook_begin_allocate_to_pool);
  }

 private:
  template <typename Function>
  static void find(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    TORCH_CHECK(function != nullptr, "the library has no ", name, ": it is of another version");
  }
};
Library g_library;
const Library& own() { return g_library; }

void check(gpustrata_status status) { TORCH_CHECK(status == GPUSTRATA_OK, own().last_error()); }
gpustrata_pool named(MempoolId_t id) { return {id.first, id.second}; }

struct Checkpoint : native::AllocatorState {
  explicit Checkpoint(gpustrata_checkpoint* saved) : saved(saved) {}
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  ~Checkpoint() override { own().free_checkpoint(saved); }
  gpustrata_checkpoint* saved;
};

// Whether this PyTorch tells its allocators of captures: asked of its class, since the one below has the function anyway.
template <typename Class>
auto tells_of_captures(Class* one) -> decltype(one->markCaptureBegin(0), true) {
  return true;
}
bool tells_of_captures(void*) { return false; }

// Of the stream that the thread uses. One that cannot be asked counts as captured: memory is then kept longer.
int is_captured(int device) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const auto stream = c10::cuda::getCurrentCUDAStream(static_cast<DeviceIndex>(device));
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone ? 1
                                                                                                        : 0;
}

class Allocator final : public Base {
 public:
  Allocator()
      : Base([this](size_t size, int device, cudaStream_t stream) { return take(size, device, stream); },
             [](void* pointer, size_t, int device, cudaStream_t) { give(pointer, device); }) {
    set_init_fn(own().hook_init);
    set_reset_fn(own().hook_reset);
    set_memory_fraction_fn(own().hook_memory_fraction);
    set_base_alloc_fn(own().hook_base_alloc);
    set_record_stream_fn(
        [](void* pointer, cudaStream_t stream) { own().hook_record_stream(pointer, stream); });
    set_begin_allocate_to_pool([](int device, MempoolId_t id, StreamFilter filter) {
      std::function<bool(void*)> accepts;
      if (filter) {
        accepts = [filter = std::move(filter)](void* stream) {
          return filter(static_cast<cudaStream_t>(stream));
        };
      }
      own().hook_begin_allocate_to_pool(device, id, std::move(accepts));
    });
    set_end_allocate_to_pool_fn([](int device, MempoolId_t id) { check(own().pool_end(device, named(id))); });
    set_release_pool([](int device, MempoolId_t id) { (void)own().pool_release(device, named(id)); });
  }

  std::string name() { return "gpustrata"; }

  double getMemoryFraction(DeviceIndex device) { return own().get_memory_fraction(device); }

  // --- What is cached

  void cacheInfo(DeviceIndex device, size_t* largest) {
    if (*largest == 0) {  // as PyTorch's own: what the device has left, where the caller knows nothing
      int64_t free_bytes = 0;
      check(own().memory_info(device, &free_bytes, nullptr));
      *largest = static_cast<size_t>(free_bytes);
    }
    size_t cached = 0;
    check(own().largest_cached_block(device, &cached));
    *largest = std::max(*largest, cached);
  }
  void emptyCache(MempoolId_t id = {0, 0}) {
    if (id.first == 0 && id.second == 0) {
      own().hook_reset();
      return;
    }
    for (DeviceIndex device = 0; device < c10::cuda::device_count(); ++device) {
      if (own().pool_users(device, named(id)) >= 0) (void)own().pool_empty(device, named(id));
    }
  }

  // --- Pools

  void createOrIncrefPool(DeviceIndex device, MempoolId_t id,
                          std::shared_ptr<native::CUDAAllocator> allocator) {
    create(device, id, allocator != nullptr);
  }
  void createOrIncrefPool(DeviceIndex device, MempoolId_t id, native::CUDAAllocator* allocator) {
    create(device, id, allocator != nullptr);
  }
  void ensureExistsAndIncrefPool(DeviceIndex device, MempoolId_t id) { create(device, id, false); }
  int getPoolUseCount(DeviceIndex device, MempoolId_t id) { return own().pool_users(device, named(id)); }
  void setUseOnOOM(DeviceIndex device, MempoolId_t id) { setUseOnOOM(device, id, true); }
  void setUseOnOOM(DeviceIndex device, MempoolId_t id, bool use) {
    const gpustrata_status status = own().pool_use_on_oom(device, named(id), use ? 1 : 0);
    if (use) check(status);  // a pool that is not there serves nobody anyway
  }
  void setNoSplit(DeviceIndex device, MempoolId_t id) { check(own().pool_no_split(device, named(id))); }

  // --- Graphs

  void markCaptureBegin(DeviceIndex device) { check(own().capture_begin(device)); }
  void markCaptureEnd(DeviceIndex device) { check(own().capture_end(device)); }

  bool isHistoryEnabled() { return own().is_recording() != 0; }
  bool checkPoolLiveAllocations(DeviceIndex device, MempoolId_t id,
                                const std::unordered_set<void*>& expected) {
    const std::vector<void*> live = allocations(device, named(id));
    return live.size() == expected.size() &&
           std::all_of(live.begin(), live.end(), [&](void* one) { return expected.count(one) == 1; });
  }
  std::shared_ptr<native::AllocatorState> getCheckpointState(DeviceIndex device, MempoolId_t id) {
    gpustrata_checkpoint* saved = nullptr;
    check(own().pool_checkpoint(device, named(id), &saved));
    return std::make_shared<Checkpoint>(saved);
  }
  native::CheckpointDelta setCheckpointPoolState(DeviceIndex device,
                                                 std::shared_ptr<native::AllocatorState> state) {
    const auto* const checkpoint = dynamic_cast<const Checkpoint*>(state.get());
    TORCH_CHECK(checkpoint != nullptr, "the checkpoint is not one of gpustrata's");
    const gpustrata_pool pool = own().checkpoint_pool(checkpoint->saved);
    native::CheckpointDelta delta;
    delta.ptrs_freed = allocations(device, pool);
    check(own().pool_restore(device, checkpoint->saved));
    const std::lock_guard<std::mutex> guard(allocator_mutex_);
    for (void* const pointer : delta.ptrs_freed) allocation_metadata_.erase(pointer);
    for (void* const pointer : allocations(device, pool)) {
      delta.dataptrs_allocd.emplace_back(pointer, pointer, raw_deleter(),
                                         c10::Device(c10::DeviceType::CUDA, device));
    }
    return delta;
  }

  // What a checkpoint brought back PyTorch's class does not know of.
  void raw_delete(void* pointer) {
    int device = -1;
    {
      const std::lock_guard<std::mutex> guard(allocator_mutex_);
      const auto found = allocation_metadata_.find(pointer);
      if (found != allocation_metadata_.end()) {
        device = found->second.device_idx;
        allocation_metadata_.erase(found);
      }
    }
    give(pointer, device);
  }

  // --- Other processes: both sides have this class, and the memory is not in an expandable segment

  native::ShareableHandle shareIpcHandle(void* pointer) {
    void* base = nullptr;
    check(own().base_allocation(pointer, &base, nullptr));
    cudaIpcMemHandle_t handle;
    C10_CUDA_CHECK(cudaIpcGetMemHandle(&handle, base));
    return {static_cast<char*>(pointer) - static_cast<char*>(base),
            kIpcKind + std::string(reinterpret_cast<const char*>(&handle), sizeof handle)};
  }
  std::shared_ptr<void> getIpcDevPtr(std::string text) {
    TORCH_CHECK(text.size() == kIpcKind.size() + sizeof(cudaIpcMemHandle_t) &&
                    text.compare(0, kIpcKind.size(), kIpcKind) == 0,
                "this memory was shared by another allocator than gpustrata's");
    const std::lock_guard<std::mutex> guard(ipc_lock_);
    if (std::shared_ptr<void> open = ipc_[text].lock()) return open;
    cudaIpcMemHandle_t handle;
    std::memcpy(&handle, text.data() + kIpcKind.size(), sizeof handle);
    void* base = nullptr;
    C10_CUDA_CHECK(cudaIpcOpenMemHandle(&base, handle, cudaIpcMemLazyEnablePeerAccess));
    DeviceIndex device = 0;
    C10_CUDA_CHECK(c10::cuda::GetDevice(&device));
    std::shared_ptr<void> opened(base, [this, text, device](void* pointer) {
      const std::lock_guard<std::mutex> closing(ipc_lock_);
      const c10::cuda::CUDAGuard on(device);
      C10_CUDA_CHECK_WARN(cudaIpcCloseMemHandle(pointer));
      const auto found = ipc_.find(text);
      if (found != ipc_.end() && found->second.expired()) ipc_.erase(found);
    });
    ipc_[text] = opened;
    return opened;
  }
  void enablePeerAccess(DeviceIndex device, DeviceIndex to) {
    Base::enablePeerAccess(device, to);
    check(own().enable_peer_access(to, device));
  }

  // Called after the error is certain, before it is thrown.
  void attachOutOfMemoryObserver(native::OutOfMemoryObserver observer) {
    const std::lock_guard<std::mutex> guard(observers_lock_);
    observers_.push_back(std::move(observer));
  }

 private:
  static inline const std::string kIpcKind = "gpustrata1";
  static constexpr size_t kMostDevices = 64;

  void* take(size_t size, int device, cudaStream_t stream) {
    if (static_cast<size_t>(device) < kMostDevices &&
        tells_of_captures(static_cast<native::CUDAAllocator*>(this))) {
      std::call_once(told_[static_cast<size_t>(device)],
                     [&] { (void)own().put_off_by_captures_only(device, is_captured); });
    }
    void* pointer = nullptr;
    const gpustrata_status status = own().malloc(&pointer, size, device, stream);
    if (status == GPUSTRATA_OK) {
      if (c10::memoryProfilingEnabled()) tell_profiler(pointer, device, 1);
      return pointer;
    }
    const std::string text = own().last_error();
    if (status == GPUSTRATA_OUT_OF_MEMORY) tell_observers(device, size);
    TORCH_CHECK_WITH(OutOfMemoryError, status != GPUSTRATA_OUT_OF_MEMORY, text);
    TORCH_CHECK(false, text);
  }
  static void give(void* pointer, int device) {
    if (c10::memoryProfilingEnabled() && device >= 0) tell_profiler(pointer, device, -1);
    own().free(pointer, 0, device, nullptr);
  }
  static void tell_profiler(void* pointer, int device, int sign) {
    int64_t allocated = 0;
    int64_t reserved = 0;
    const auto size = static_cast<int64_t>(own().block_size(pointer));
    (void)own().memory_usage(device, &allocated, &reserved);
    // Before a free the block still counts.
    if (sign < 0) allocated -= size;
    c10::reportMemoryUsageToProfiler(pointer, sign * size, static_cast<size_t>(allocated),
                                     static_cast<size_t>(reserved),
                                     c10::Device(c10::DeviceType::CUDA, static_cast<DeviceIndex>(device)));
  }
  void tell_observers(int device, size_t size) {
    std::vector<native::OutOfMemoryObserver> observers;
    {
      const std::lock_guard<std::mutex> guard(observers_lock_);
      observers = observers_;
    }
    int64_t free_bytes = 0;
    int64_t total_bytes = 0;
    (void)own().memory_info(device, &free_bytes, &total_bytes);
    for (const auto& observer : observers)
      observer(device, size, static_cast<size_t>(total_bytes), static_cast<size_t>(free_bytes));
  }

  void create(DeviceIndex device, MempoolId_t id, bool has_allocator) {
    TORCH_CHECK(!has_allocator,
                "a MemPool with an allocator of its own needs PyTorch's allocator: gpustrata.install() was "
                "called, which replaces it");
    check(own().pool_retain(device, named(id)));
  }
  static std::vector<void*> allocations(DeviceIndex device, gpustrata_pool pool) {
    std::vector<void*> live;
    for (size_t count = 0;;) {
      live.resize(count);
      check(own().pool_allocations(device, pool, live.data(), live.size(), &count));
      if (count <= live.size()) {
        live.resize(count);
        return live;
      }
    }
  }

  std::array<std::once_flag, kMostDevices> told_;
  std::mutex observers_lock_;
  std::vector<native::OutOfMemoryObserver> observers_;
  std::mutex ipc_lock_;
  std::unordered_map<std::string, std::weak_ptr<void>> ipc_;
};

thread_local std::string t_error;

}  // namespace

// Makes gpustrata PyTorch's allocator. `library`: the path of libgpustrata_capture.so, which is loaded. Null, or what
// went wrong in words, valid until the thread's next call.
extern "C" __attribute__((visibility("default"))) const char* gpustrata_companion_install(
    const char* library) {
  try {
    g_library.load(library);
    torch::cuda::CUDAPluggableAllocator::changeCurrentAllocator(std::make_shared<Allocator>());
    return nullptr;
  } catch (const std::exception& error) {
    t_error = error.what();
    return t_error.c_str();
  }
}
