// Calls that take memory and give it back: the driver does it, the recorder hears of it.
//
// An allocation is told after the driver has made it and before the program has it; what is given back is told before the driver
// has it, since another thread may be given the same address at once. So the events of one address come in the order of truth,
// and no lock is held over a call of the driver.
#include <cerrno>
#include <ctime>

#include "capture/preload/recorder.h"
#include "capture/preload/watched.h"

using namespace gpustrata::preload;

namespace {

constexpr int kAttributeDeviceOfPointer = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
constexpr int kLocationHost = 2;              // and up to 4: host, its nodes
constexpr int kLocationHostLast = 4;
constexpr int64_t kPerThreadStream = 2;  // CU_STREAM_PER_THREAD
constexpr int kMostDevices = 128;

// What the driver answers.
template <typename Function, typename... Arguments>
CuResult pass_on(Watched which, Arguments... arguments) {
  const auto function = reinterpret_cast<Function>(theirs(which));
  return function == nullptr ? kNotInitialized : function(arguments...);
}
#define GPUSTRATA_PASS_ON(symbol, ...) pass_on<decltype(&symbol)>(Watched::symbol, __VA_ARGS__)

class KeptErrno {
 public:
  KeptErrno() : kept_(errno) {}
  ~KeptErrno() { errno = kept_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int kept_;
};

// A function of the driver that is looked up once.
template <typename Function>
class OfDriver {
 public:
  constexpr explicit OfDriver(const char* symbol) : symbol_(symbol) {}
  [[nodiscard]] Function get() {
    void* function = __atomic_load_n(&function_, __ATOMIC_ACQUIRE);
    if (function == nullptr) {
      function = of_driver(symbol_);
      __atomic_store_n(&function_, function, __ATOMIC_RELEASE);
    }
    return reinterpret_cast<Function>(function);
  }

 private:
  const char* symbol_;
  void* function_ = nullptr;
};
constinit OfDriver<CuResult (*)(CuDevice*)> g_context_device("cuCtxGetDevice");
constinit OfDriver<CuResult (*)(CuContext*)> g_current_context("cuCtxGetCurrent");
constinit OfDriver<CuResult (*)(void*, int, CuDevicePtr)> g_pointer_attribute("cuPointerGetAttribute");
constinit OfDriver<CuResult (*)(size_t*, size_t*)> g_memory_info("cuMemGetInfo_v2");

[[nodiscard]] int current_device() {
  CuDevice device = 0;
  const auto ask = g_context_device.get();
  return ask != nullptr && ask(&device) == kSuccess && device >= 0 ? device : 0;
}
[[nodiscard]] uint64_t number_of(CuContext context) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(context));
}
[[nodiscard]] uint64_t current_context() {
  CuContext context = nullptr;
  const auto ask = g_current_context.get();
  return ask != nullptr && ask(&context) == kSuccess ? number_of(context) : 0;
}
// A stream need not be of the current device, nor a pool.
[[nodiscard]] int device_of(CuDevicePtr address, int otherwise) {
  CuDevice device = 0;
  const auto ask = g_pointer_attribute.get();
  return ask != nullptr && ask(&device, kAttributeDeviceOfPointer, address) == kSuccess && device >= 0
             ? device
             : otherwise;
}

[[nodiscard]] int64_t free_bytes() {
  size_t free = 0, total = 0;
  const auto ask = g_memory_info.get();
  return ask != nullptr && ask(&free, &total) == kSuccess ? static_cast<int64_t>(free) : 0;
}
// What is there before the first of all on the current device: contexts, modules, other processes.
void tell_what_is_there(const Recorder& to, int device) {
  static bool told[kMostDevices];
  if (device >= kMostDevices || __atomic_load_n(&told[device], __ATOMIC_RELAXED) ||
      __atomic_exchange_n(&told[device], true, __ATOMIC_RELAXED))
    return;
  size_t free = 0, total = 0;
  const auto ask = g_memory_info.get();
  if (ask != nullptr && ask(&free, &total) == kSuccess)
    to.found(device, static_cast<int64_t>(total - free), static_cast<int64_t>(total));
}

struct Asked {
  size_t bytes;
  int place = GPUSTRATA_ON_DEVICE;
  int64_t stream = 0;
  uint64_t pool = 0;
  bool is_ordered = false;  // by a stream
};

// A call of this thread that takes memory; the driver is asked for it in between.
class Taking {
 public:
  explicit Taking(int place = GPUSTRATA_ON_DEVICE) {
    if (!here_) return;
    const KeptErrno kept;
    to_ = recorder();
    if (to_ == nullptr) return;
    device_ = current_device();
    if (place != GPUSTRATA_ON_HOST) tell_what_is_there(*to_, device_);
  }
  [[nodiscard]] const Recorder* recorder_of_it() const { return to_; }
  [[nodiscard]] int device() const { return device_; }

  CuResult done(CuResult result, CuDevicePtr address, const Asked& asked, const void* caller) const {
    if (to_ == nullptr || (result != kSuccess && result != kOutOfMemory)) return result;
    const KeptErrno kept;
    gpustrata_driver_block block{};
    block.size = static_cast<int64_t>(asked.bytes);
    block.stream = asked.stream;
    block.pool = asked.pool;
    block.place = asked.place;
    block.device = device_;
    if (result == kOutOfMemory) {
      to_->refused(&block, asked.place == GPUSTRATA_ON_DEVICE ? free_bytes() : 0);
      return result;
    }
    block.address = address;
    block.context = current_context();
    if (asked.is_ordered) block.device = device_of(address, device_);
    to_->allocated(&block, caller);
    return result;
  }

 private:
  Outermost here_;
  const Recorder* to_ = nullptr;
  int device_ = 0;
};

// The driver is given it back in between.
class GivenBack {
 public:
  explicit GivenBack(CuDevicePtr address) {
    const Recorder* const to = here_ ? loaded_recorder() : nullptr;
    const KeptErrno kept;
    if (to != nullptr && to->freeing(address, &block_) != 0) to_ = to;
  }
  CuResult done(CuResult result) const {
    const KeptErrno kept;
    if (to_ != nullptr && result != kSuccess) to_->kept(&block_);
    return result;
  }

 private:
  Outermost here_;
  const Recorder* to_ = nullptr;
  gpustrata_driver_block block_{};
};

[[nodiscard]] int64_t number_of(CuStream stream) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(stream));
}
// Of a function for which stream 0 means the thread's own.
[[nodiscard]] int64_t number_per_thread(CuStream stream) {
  return stream == nullptr ? kPerThreadStream : number_of(stream);
}
constexpr uint64_t kDevicesOwnPool = 1;
[[nodiscard]] uint64_t number_of(CuMemPool pool) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pool));
}

}  // namespace

#define GPUSTRATA_CALLER __builtin_return_address(0)

CuResult cuInit(unsigned flags) {
  const CuResult result = GPUSTRATA_PASS_ON(cuInit, flags);
  const KeptErrno kept;
  // While few threads are there.
  if (result == kSuccess) (void)recorder();
  return result;
}

// --- Memory of a device

CuResult cuMemAlloc_v2(CuDevicePtr* address, size_t bytes) {
  const Taking taking;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemAlloc_v2, address, bytes);
  return taking.done(result, result == kSuccess ? *address : 0, {bytes}, GPUSTRATA_CALLER);
}
CuResult cuMemAllocPitch_v2(CuDevicePtr* address, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  const Taking taking;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemAllocPitch_v2, address, pitch, width, height, element);
  const bool done = result == kSuccess;
  return taking.done(result, done ? *address : 0, {(done ? *pitch : width) * height}, GPUSTRATA_CALLER);
}
CuResult cuMemFree_v2(CuDevicePtr address) {
  const GivenBack back(address);
  return back.done(GPUSTRATA_PASS_ON(cuMemFree_v2, address));
}

// --- In the order of a stream

#define GPUSTRATA_ORDERED(suffix, number)                                                       \
  CuResult cuMemAllocAsync##suffix(CuDevicePtr* address, size_t bytes, CuStream stream) {       \
    const Taking taking;                                                                        \
    const CuResult result = GPUSTRATA_PASS_ON(cuMemAllocAsync##suffix, address, bytes, stream); \
    const Asked asked{bytes, GPUSTRATA_ON_DEVICE, number(stream), kDevicesOwnPool, true};       \
    return taking.done(result, result == kSuccess ? *address : 0, asked, GPUSTRATA_CALLER);     \
  }                                                                                             \
  CuResult cuMemAllocFromPoolAsync##suffix(CuDevicePtr* address, size_t bytes, CuMemPool pool,  \
                                           CuStream stream) {                                   \
    const Taking taking;                                                                        \
    const CuResult result =                                                                     \
        GPUSTRATA_PASS_ON(cuMemAllocFromPoolAsync##suffix, address, bytes, pool, stream);       \
    const Asked asked{bytes, GPUSTRATA_ON_DEVICE, number(stream), number_of(pool), true};       \
    return taking.done(result, result == kSuccess ? *address : 0, asked, GPUSTRATA_CALLER);     \
  }                                                                                             \
  CuResult cuMemFreeAsync##suffix(CuDevicePtr address, CuStream stream) {                       \
    const GivenBack back(address);                                                              \
    return back.done(GPUSTRATA_PASS_ON(cuMemFreeAsync##suffix, address, stream));               \
  }
GPUSTRATA_ORDERED(, number_of)
GPUSTRATA_ORDERED(_ptsz, number_per_thread)

// --- Memory of the host, and managed

CuResult cuMemAllocHost_v2(void** address, size_t bytes) {
  const Taking taking(GPUSTRATA_ON_HOST);
  const CuResult result = GPUSTRATA_PASS_ON(cuMemAllocHost_v2, address, bytes);
  return taking.done(result, result == kSuccess ? reinterpret_cast<CuDevicePtr>(*address) : 0,
                     {bytes, GPUSTRATA_ON_HOST}, GPUSTRATA_CALLER);
}
CuResult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  const Taking taking(GPUSTRATA_ON_HOST);
  const CuResult result = GPUSTRATA_PASS_ON(cuMemHostAlloc, address, bytes, flags);
  return taking.done(result, result == kSuccess ? reinterpret_cast<CuDevicePtr>(*address) : 0,
                     {bytes, GPUSTRATA_ON_HOST}, GPUSTRATA_CALLER);
}
CuResult cuMemFreeHost(void* address) {
  const GivenBack back(reinterpret_cast<CuDevicePtr>(address));
  return back.done(GPUSTRATA_PASS_ON(cuMemFreeHost, address));
}
CuResult cuMemAllocManaged(CuDevicePtr* address, size_t bytes, unsigned flags) {
  const Taking taking(GPUSTRATA_MANAGED);
  const CuResult result = GPUSTRATA_PASS_ON(cuMemAllocManaged, address, bytes, flags);
  return taking.done(result, result == kSuccess ? *address : 0, {bytes, GPUSTRATA_MANAGED}, GPUSTRATA_CALLER);
}

// --- What memory ends with

namespace {

// The driver destroys it in between.
class Ending {
 public:
  Ending(int device, uint64_t context) {
    const KeptErrno kept;
    to_ = here_ ? loaded_recorder() : nullptr;
    if (to_ != nullptr) to_->ending(device, context);
  }
  CuResult done(CuResult result) const {
    const KeptErrno kept;
    if (to_ != nullptr && result != kSuccess) to_->not_ended();
    return result;
  }

 private:
  Outermost here_;
  const Recorder* to_ = nullptr;
};

}  // namespace

CuResult cuCtxDestroy_v2(CuContext context) {
  const Ending ending(-1, number_of(context));
  return ending.done(GPUSTRATA_PASS_ON(cuCtxDestroy_v2, context));
}
CuResult cuDevicePrimaryCtxReset_v2(CuDevice device) {
  const Ending ending(device, 0);
  return ending.done(GPUSTRATA_PASS_ON(cuDevicePrimaryCtxReset_v2, device));
}

// --- Virtual memory: addresses are the program's, so what is unmapped may be told afterwards; handles are the driver's

CuResult cuMemCreate(CuMemHandle* handle, size_t bytes, const CuMemAllocationProp* properties,
                     unsigned long long flags) {
  const Taking taking;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemCreate, handle, bytes, properties, flags);
  const Recorder* const to = taking.recorder_of_it();
  if (to == nullptr || properties == nullptr || (result != kSuccess && result != kOutOfMemory)) return result;
  const KeptErrno kept;
  const CuMemLocation& location = properties->location;
  const bool on_host = location.type >= kLocationHost && location.type <= kLocationHostLast;
  gpustrata_driver_block block{};
  block.size = static_cast<int64_t>(bytes);
  block.place = on_host ? GPUSTRATA_ON_HOST : GPUSTRATA_ON_DEVICE;
  block.device = location.type == kLocationDevice ? location.id : taking.device();
  if (result == kSuccess) {
    to->created(*handle, &block);
  } else {
    to->refused(&block, on_host ? 0 : free_bytes());
  }
  return result;
}
CuResult cuMemRelease(CuMemHandle handle) {
  const Outermost here;
  gpustrata_driver_block block{};
  const Recorder* const to = here ? loaded_recorder() : nullptr;
  const bool known = to != nullptr && to->releasing(handle, &block) != 0;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemRelease, handle);
  const KeptErrno kept;
  if (known && result != kSuccess) to->created(handle, &block);
  return result;
}
CuResult cuMemMap(CuDevicePtr address, size_t bytes, size_t offset, CuMemHandle handle,
                  unsigned long long flags) {
  const Outermost here;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemMap, address, bytes, offset, handle, flags);
  const KeptErrno kept;
  const Recorder* const to = here && result == kSuccess ? loaded_recorder() : nullptr;
  if (to != nullptr) to->mapped(address, static_cast<int64_t>(bytes), handle, GPUSTRATA_CALLER);
  return result;
}
CuResult cuMemUnmap(CuDevicePtr address, size_t bytes) {
  const Outermost here;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemUnmap, address, bytes);
  const KeptErrno kept;
  const Recorder* const to = here && result == kSuccess ? loaded_recorder() : nullptr;
  if (to != nullptr) to->unmapped(address, static_cast<int64_t>(bytes));
  return result;
}
