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

// What the driver answers; in no case is the recorder asked.
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
constinit OfDriver<CuResult (*)(void*, int, CuDevicePtr)> g_pointer_attribute("cuPointerGetAttribute");
constinit OfDriver<CuResult (*)(size_t*, size_t*)> g_memory_info("cuMemGetInfo_v2");

[[nodiscard]] int current_device() {
  CuDevice device = 0;
  const auto ask = g_context_device.get();
  return ask != nullptr && ask(&device) == kSuccess && device >= 0 ? device : 0;
}
// A stream need not be of the current device, nor a pool.
[[nodiscard]] int device_of(CuDevicePtr address) {
  CuDevice device = 0;
  const auto ask = g_pointer_attribute.get();
  return ask != nullptr && ask(&device, kAttributeDeviceOfPointer, address) == kSuccess && device >= 0
             ? device
             : current_device();
}

[[nodiscard]] int64_t free_bytes() {
  size_t free = 0, total = 0;
  const auto ask = g_memory_info.get();
  return ask != nullptr && ask(&free, &total) == kSuccess ? static_cast<int64_t>(free) : 0;
}
// What was there before the first of all on the current device: contexts, modules, other processes.
void tell_what_was_there(const Recorder& to, int device, int64_t bytes) {
  static bool told[kMostDevices];
  if (device < 0 || device >= kMostDevices || __atomic_exchange_n(&told[device], true, __ATOMIC_RELAXED))
    return;
  size_t free = 0, total = 0;
  const auto ask = g_memory_info.get();
  if (ask != nullptr && ask(&free, &total) == kSuccess)
    to.found(device, static_cast<int64_t>(total - free) - bytes, static_cast<int64_t>(total));
}

struct Asked {
  size_t bytes;
  int place = GPUSTRATA_ON_DEVICE;
  int64_t stream = 0;
  uint64_t pool = 0;
  bool is_ordered = false;  // by a stream
};

// `result` of a call that this thread made for its program.
void tell(CuResult result, CuDevicePtr address, const Asked& asked, const void* caller) {
  if (result != kSuccess && result != kOutOfMemory) return;
  const KeptErrno kept;
  const Recorder* const to = recorder();
  if (to == nullptr) return;
  gpustrata_driver_block block{};
  block.size = static_cast<int64_t>(asked.bytes);
  block.stream = asked.stream;
  block.pool = asked.pool;
  block.place = asked.place;
  if (result == kOutOfMemory) {
    block.device = current_device();
    return to->refused(&block, asked.place == GPUSTRATA_ON_DEVICE ? free_bytes() : 0);
  }
  block.address = address;
  block.device = asked.is_ordered ? device_of(address) : current_device();
  to->allocated(&block, caller);
  if (asked.place == GPUSTRATA_ON_DEVICE && !asked.is_ordered)
    tell_what_was_there(*to, block.device, block.size);
}

// The driver is given it back in between.
class GivenBack {
 public:
  GivenBack(const Outermost& here, CuDevicePtr address) {
    const Recorder* const to = here ? loaded_recorder() : nullptr;
    const KeptErrno kept;
    if (to != nullptr && to->freeing(address, &block_) != 0) to_ = to;
  }
  CuResult done(CuResult result) const {
    const KeptErrno kept;
    if (to_ != nullptr && result != kSuccess) to_->kept(&block_);
    return result;
  }

 private:
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
  const Outermost here;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemAlloc_v2, address, bytes);
  if (here) tell(result, result == kSuccess ? *address : 0, {bytes}, GPUSTRATA_CALLER);
  return result;
}
CuResult cuMemAllocPitch_v2(CuDevicePtr* address, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  const Outermost here;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemAllocPitch_v2, address, pitch, width, height, element);
  const bool done = result == kSuccess;
  if (here) tell(result, done ? *address : 0, {(done ? *pitch : width) * height}, GPUSTRATA_CALLER);
  return result;
}
CuResult cuMemFree_v2(CuDevicePtr address) {
  const Outermost here;
  const GivenBack back(here, address);
  return back.done(GPUSTRATA_PASS_ON(cuMemFree_v2, address));
}

// --- In the order of a stream

#define GPUSTRATA_ORDERED(suffix, number)                                                          \
  CuResult cuMemAllocAsync##suffix(CuDevicePtr* address, size_t bytes, CuStream stream) {          \
    const Outermost here;                                                                          \
    const CuResult result = GPUSTRATA_PASS_ON(cuMemAllocAsync##suffix, address, bytes, stream);    \
    if (here)                                                                                      \
      tell(result, result == kSuccess ? *address : 0,                                              \
           {bytes, GPUSTRATA_ON_DEVICE, number(stream), kDevicesOwnPool, true}, GPUSTRATA_CALLER); \
    return result;                                                                                 \
  }                                                                                                \
  CuResult cuMemAllocFromPoolAsync##suffix(CuDevicePtr* address, size_t bytes, CuMemPool pool,     \
                                           CuStream stream) {                                      \
    const Outermost here;                                                                          \
    const CuResult result =                                                                        \
        GPUSTRATA_PASS_ON(cuMemAllocFromPoolAsync##suffix, address, bytes, pool, stream);          \
    if (here)                                                                                      \
      tell(result, result == kSuccess ? *address : 0,                                              \
           {bytes, GPUSTRATA_ON_DEVICE, number(stream), number_of(pool), true}, GPUSTRATA_CALLER); \
    return result;                                                                                 \
  }                                                                                                \
  CuResult cuMemFreeAsync##suffix(CuDevicePtr address, CuStream stream) {                          \
    const Outermost here;                                                                          \
    const GivenBack back(here, address);                                                           \
    return back.done(GPUSTRATA_PASS_ON(cuMemFreeAsync##suffix, address, stream));                  \
  }
GPUSTRATA_ORDERED(, number_of)
GPUSTRATA_ORDERED(_ptsz, number_per_thread)

// --- Memory of the host, and managed

CuResult cuMemAllocHost_v2(void** address, size_t bytes) {
  const Outermost here;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemAllocHost_v2, address, bytes);
  if (here)
    tell(result, result == kSuccess ? reinterpret_cast<CuDevicePtr>(*address) : 0, {bytes, GPUSTRATA_ON_HOST},
         GPUSTRATA_CALLER);
  return result;
}
CuResult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  const Outermost here;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemHostAlloc, address, bytes, flags);
  if (here)
    tell(result, result == kSuccess ? reinterpret_cast<CuDevicePtr>(*address) : 0, {bytes, GPUSTRATA_ON_HOST},
         GPUSTRATA_CALLER);
  return result;
}
CuResult cuMemFreeHost(void* address) {
  const Outermost here;
  const GivenBack back(here, reinterpret_cast<CuDevicePtr>(address));
  return back.done(GPUSTRATA_PASS_ON(cuMemFreeHost, address));
}
CuResult cuMemAllocManaged(CuDevicePtr* address, size_t bytes, unsigned flags) {
  const Outermost here;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemAllocManaged, address, bytes, flags);
  if (here) tell(result, result == kSuccess ? *address : 0, {bytes, GPUSTRATA_MANAGED}, GPUSTRATA_CALLER);
  return result;
}

// --- Virtual memory: addresses are the program's, so what is unmapped may be told afterwards; handles are the driver's

CuResult cuMemCreate(CuMemHandle* handle, size_t bytes, const CuMemAllocationProp* properties,
                     unsigned long long flags) {
  const Outermost here;
  const CuResult result = GPUSTRATA_PASS_ON(cuMemCreate, handle, bytes, properties, flags);
  if (!here || (result != kSuccess && result != kOutOfMemory)) return result;
  const KeptErrno kept;
  const Recorder* const to = recorder();
  if (to == nullptr || properties == nullptr) return result;
  gpustrata_driver_block block{};
  block.size = static_cast<int64_t>(bytes);
  const CuMemLocation& location = properties->location;
  const bool on_host = location.type >= kLocationHost && location.type <= kLocationHostLast;
  block.place = on_host ? GPUSTRATA_ON_HOST : GPUSTRATA_ON_DEVICE;
  block.device = location.type == kLocationDevice ? location.id : 0;
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
