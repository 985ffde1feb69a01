// A CUDA driver without a GPU, for tests: libcuda.so.1 over the host's memory.
//
// Memory is real (it can be written to), has a capacity per device, and every misuse that a real driver
// punishes is an error here: unknown pointers, mapping twice, unmapping parts, releasing a reservation with
// pages in it, a call about memory, events or streams without a current context, an event in another device's
// context than its own or on another device's stream, any call in a forked child. Work on streams is what a test
// says (fake_cuda_hold, fake_cuda_finish): events recorded on a held stream are unfinished.
//
//   FAKE_CUDA_DEVICES   number of devices (1)
//   FAKE_CUDA_MEMORY    bytes of each (1 GiB)
//   FAKE_CUDA_NO_VMM    set: virtual memory management is not supported
//   FAKE_CUDA_NO_PEER   set: no device reaches the memory of another
//   FAKE_CUDA_ADDRESSES where memory lies, so that two runs of the same requests have the same layout; else wherever the
//                       system likes. ascending: as engine/alloc's simulated device; descending; shuffled: anywhere;
//                       reused: anywhere, and first where memory of that size was given back; not where a reservation lay
//                       that never had a page (PyTorch keeps those of private pools). All are multiples of 2 MiB
//   FAKE_CUDA_SEED      of the last two (0)
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "capture/cuda/driver_abi.h"
#include "tests/capture/fake_cuda/fake_cuda.h"

namespace gpustrata::capture::cuda {
namespace {

constexpr size_t kGranularity = size_t{2} << 20;
constexpr CuResult kNotFound = 500;
constexpr CuResult kNotSupported = 801;

struct Range {
  size_t bytes = 0;
  int device = 0;
};
struct Reservation {
  size_t bytes = 0;
  bool had_pages = false;
};
struct Page {
  size_t bytes = 0;
  CuMemHandle handle = 0;
  int device = 0;
  bool accessible = false;
  std::set<int> readers;  // devices that may use it
};
struct Event {
  bool recorded = false;
  bool finished = true;
  CuStream stream = nullptr;
  int device = 0;
  bool captured = false;  // recorded into a graph
};

struct Driver {
  std::mutex lock;
  pid_t owner = 0;
  int devices = 1;
  size_t capacity = size_t{1} << 30;
  bool has_virtual_memory = true;
  std::vector<int64_t> used;
  std::map<CuDevicePtr, Range> allocations;
  std::map<CuDevicePtr, Reservation> reservations;
  std::map<CuDevicePtr, Page> pages;
  std::map<CuMemHandle, Range> handles;
  std::map<CuEvent, Event> events;
  std::set<void*> pinned;
  std::set<CuStream> held;
  std::set<CuStream> capturing;
  std::map<CuStream, int> streams;  // made by cuStreamCreate: their devices
  bool has_peers = true;
  uintptr_t next_name = 0x1000;  // 1 and 2 are streams by name
  char* space = nullptr;         // for FAKE_CUDA_ADDRESSES; null = wherever the system likes
  enum class Places { ascending, descending, shuffled, reused } places = Places::ascending;
  std::map<size_t, size_t> taken;              // of `space`, now or ever: offset, bytes
  std::map<size_t, std::set<char*>> returned;  // reused: by bytes
  std::mt19937_64 random;
  int until_failure = 0;  // calls that take memory; 0 = none ordered
  CuResult failure = kSuccess;
  CuResult query_failure = kSuccess;  // of every cuEventQuery
  int64_t misuses = 0;
};

Driver& driver() {
  static Driver& only = *new Driver();
  return only;
}
thread_local std::vector<CuContext> t_contexts;

CuContext context_of(int device) { return reinterpret_cast<CuContext>(static_cast<uintptr_t>(device) + 1); }
int current_device() {
  return t_contexts.empty() ? -1 : static_cast<int>(reinterpret_cast<uintptr_t>(t_contexts.back())) - 1;
}

// Counts what a correct program never does.
CuResult misuse(CuResult error, const char* what) {
  ++driver().misuses;
  (void)std::fprintf(stderr, "fake driver: %s\n", what);
  return error;
}
CuResult usable() {
  if (driver().owner == 0) return kNotInitialized;
  if (driver().owner != getpid()) return misuse(kNotInitialized, "used in a forked child");
  return kSuccess;
}
#define FAKE_ENTER                            \
  const std::lock_guard guard(driver().lock); \
  if (const CuResult error = usable(); error != kSuccess) return error
#define FAKE_ENTER_WITH_CONTEXT \
  FAKE_ENTER;                   \
  if (current_device() < 0) return misuse(kInvalidContext, "no current context")

bool ordered_failure() { return driver().until_failure > 0 && --driver().until_failure == 0; }

CuResult take(int device, size_t bytes) {
  Driver& d = driver();
  if (ordered_failure()) return d.failure;
  int64_t& used = d.used[static_cast<size_t>(device)];
  if (static_cast<size_t>(used) + bytes > d.capacity) return kOutOfMemory;
  used += static_cast<int64_t>(bytes);
  return kSuccess;
}

// In `*found`, if the call may be made here.
CuResult find_event(CuEvent event, const char* misused, Event** found) {
  const auto it = driver().events.find(event);
  if (it == driver().events.end() || it->second.device != current_device())
    return misuse(kInvalidHandle, misused);
  *found = &it->second;
  return kSuccess;
}

constexpr size_t kSpace = size_t{32} << 40;

// Anywhere the system likes; the start is a multiple of 2 MiB, as the driver's is.
char* system_space(size_t bytes, int protection) {
  auto* const raw = static_cast<char*>(
      mmap(nullptr, bytes + kGranularity, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (raw == MAP_FAILED) return nullptr;
  const size_t skip = (kGranularity - reinterpret_cast<uintptr_t>(raw) % kGranularity) % kGranularity;
  if (skip > 0) (void)munmap(raw, skip);
  (void)munmap(raw + skip + bytes, kGranularity - skip);
  return raw + skip;
}

// Takes so many bytes of the ordered space, whole granules; null = there is no room.
char* ordered_space(size_t bytes) {
  Driver& d = driver();
  using Places = Driver::Places;
  if (std::set<char*>& known = d.returned[bytes]; !known.empty())
    return known.extract(known.begin()).value();  // whatever the order in which they were given back
  size_t offset = 0;
  if (d.places == Places::ascending) {
    if (!d.taken.empty()) offset = d.taken.rbegin()->first + d.taken.rbegin()->second;
    if (offset + bytes > kSpace) return nullptr;
  } else if (d.places == Places::descending) {
    const size_t end = d.taken.empty() ? kSpace : d.taken.begin()->first;
    if (end < bytes) return nullptr;
    offset = end - bytes;
  } else {
    const auto meets = [&](size_t start) {
      const auto after = d.taken.lower_bound(start);
      if (after != d.taken.end() && after->first < start + bytes) return true;
      return after != d.taken.begin() && std::prev(after)->first + std::prev(after)->second > start;
    };
    int tries = 0;
    do {
      if (++tries > 1000 || bytes >= kSpace) return nullptr;
      offset = d.random() % ((kSpace - bytes) / kGranularity) * kGranularity;
    } while (meets(offset));
  }
  d.taken[offset] = bytes;
  return d.space + offset;
}

void* space(size_t bytes, int protection) {
  if (driver().space == nullptr) return system_space(bytes, protection);
  const size_t whole = (bytes + kGranularity - 1) / kGranularity * kGranularity;
  char* const place = ordered_space(whole);
  return place == nullptr || mprotect(place, bytes, protection) != 0 ? nullptr : place;
}

// Ordered space stays taken: what is mapped by others does not come in between.
void give_back_space(void* start, size_t bytes, bool to_be_used_again = true) {
  Driver& d = driver();
  if (d.space == nullptr) {
    (void)munmap(start, bytes);
    return;
  }
  (void)madvise(start, bytes, MADV_DONTNEED);
  (void)mprotect(start, bytes, PROT_NONE);
  const size_t whole = (bytes + kGranularity - 1) / kGranularity * kGranularity;
  if (d.places == Driver::Places::reused && to_be_used_again)
    d.returned[whole].insert(static_cast<char*>(start));
}

bool order_space(std::string_view order) {
  constexpr std::string_view kPlaces[] = {"ascending", "descending", "shuffled", "reused"};
  Driver& d = driver();
  const auto* const place = std::find(std::begin(kPlaces), std::end(kPlaces), order);
  if (place == std::end(kPlaces)) return false;
  d.places = static_cast<Driver::Places>(place - std::begin(kPlaces));
  if (const char* text = std::getenv("FAKE_CUDA_SEED")) d.random.seed(std::strtoull(text, nullptr, 10));
  d.space = system_space(kSpace, PROT_NONE);
  return d.space != nullptr;
}

}  // namespace
}  // namespace gpustrata::capture::cuda

using namespace gpustrata::capture::cuda;

extern "C" {

#define FAKE_DECLARE(member, symbol, parameters) CuResult symbol parameters;

CuResult cuInit(unsigned) {
  Driver& d = driver();
  const std::lock_guard guard(d.lock);
  if (d.owner != 0) return usable();
  d.owner = getpid();
  if (const char* text = std::getenv("FAKE_CUDA_DEVICES")) d.devices = std::atoi(text);
  if (const char* text = std::getenv("FAKE_CUDA_MEMORY")) d.capacity = std::strtoull(text, nullptr, 10);
  d.has_virtual_memory = std::getenv("FAKE_CUDA_NO_VMM") == nullptr;
  d.has_peers = std::getenv("FAKE_CUDA_NO_PEER") == nullptr;
  d.used.assign(static_cast<size_t>(d.devices), 0);
  if (const char* text = std::getenv("FAKE_CUDA_ADDRESSES"); text != nullptr && !order_space(text))
    return kOutOfMemory;
  return d.devices > 0 ? kSuccess : kNoDevice;
}
CuResult cuDriverGetVersion(int* version) {
  *version = 12040;
  return kSuccess;
}
CuResult cuGetErrorName(CuResult error, const char** text) {
  *text = error == kOutOfMemory     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == kNoDevice      ? "CUDA_ERROR_NO_DEVICE"
          : error == kInvalidValue  ? "CUDA_ERROR_INVALID_VALUE"
          : error == kInvalidHandle ? "CUDA_ERROR_INVALID_HANDLE"
                                    : "CUDA_ERROR_OF_THE_FAKE_DRIVER";
  return kSuccess;
}
CuResult cuGetErrorString(CuResult error, const char** text) {
  *text = error == kOutOfMemory ? "out of memory" : "a text of the fake driver";
  return kSuccess;
}
CuResult cuDeviceGetCount(int* count) {
  FAKE_ENTER;
  *count = driver().devices;
  return kSuccess;
}
CuResult cuDeviceGet(CuDevice* device, int ordinal) {
  FAKE_ENTER;
  if (ordinal < 0 || ordinal >= driver().devices) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}
CuResult cuDeviceGetAttribute(int* value, int attribute, CuDevice) {
  FAKE_ENTER;
  *value = attribute == kAttributeVirtualMemory && driver().has_virtual_memory ? 1 : 0;
  return kSuccess;
}
CuResult cuDeviceCanAccessPeer(int* can, CuDevice device, CuDevice peer) {
  FAKE_ENTER;
  *can = driver().has_peers && device != peer ? 1 : 0;
  return kSuccess;
}
CuResult cuStreamIsCapturing(CuStream stream, int* status) {
  FAKE_ENTER_WITH_CONTEXT;
  *status = driver().capturing.contains(stream) ? 1 : 0;
  return kSuccess;
}
CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice device) {
  FAKE_ENTER;
  *context = context_of(device);
  return kSuccess;
}
CuResult cuDevicePrimaryCtxGetState(CuDevice, unsigned* flags, int* active) {
  FAKE_ENTER;
  *flags = 0;
  *active = 1;
  return kSuccess;
}
CuResult cuCtxGetCurrent(CuContext* context) {
  *context = t_contexts.empty() ? nullptr : t_contexts.back();
  return kSuccess;
}
CuResult cuCtxPushCurrent_v2(CuContext context) {
  FAKE_ENTER;
  t_contexts.push_back(context);
  return kSuccess;
}
CuResult cuCtxPopCurrent_v2(CuContext* context) {
  FAKE_ENTER_WITH_CONTEXT;
  *context = t_contexts.back();
  t_contexts.pop_back();
  return kSuccess;
}
CuResult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  FAKE_ENTER_WITH_CONTEXT;
  *total_bytes = driver().capacity;
  *free_bytes = driver().capacity - static_cast<size_t>(driver().used[static_cast<size_t>(current_device())]);
  return kSuccess;
}
CuResult cuMemAlloc_v2(CuDevicePtr* address, size_t bytes) {
  FAKE_ENTER_WITH_CONTEXT;
  if (bytes == 0) return misuse(kInvalidValue, "cuMemAlloc of 0 bytes");
  const int device = current_device();
  if (const CuResult error = take(device, bytes); error != kSuccess) return error;
  void* const memory = space(bytes, PROT_READ | PROT_WRITE);
  if (memory == nullptr) return kOutOfMemory;
  *address = reinterpret_cast<CuDevicePtr>(memory);
  driver().allocations[*address] = {bytes, device};
  return kSuccess;
}
CuResult cuMemAllocPitch_v2(CuDevicePtr* address, size_t* pitch, size_t width, size_t height, unsigned) {
  constexpr size_t kRow = 512;
  const size_t wide = (width + kRow - 1) / kRow * kRow;
  const CuResult error = cuMemAlloc_v2(address, wide * height);
  if (error == kSuccess) *pitch = wide;
  return error;
}
CuResult cuMemFree_v2(CuDevicePtr address) {
  FAKE_ENTER_WITH_CONTEXT;
  const auto found = driver().allocations.find(address);
  if (found == driver().allocations.end()) return misuse(kInvalidValue, "cuMemFree of an unknown address");
  driver().used[static_cast<size_t>(found->second.device)] -= static_cast<int64_t>(found->second.bytes);
  give_back_space(reinterpret_cast<void*>(address), found->second.bytes);
  driver().allocations.erase(found);
  return kSuccess;
}

// In the order of a stream: done at once. Pools keep nothing.
CuResult cuMemAllocAsync(CuDevicePtr* address, size_t bytes, CuStream) {
  return cuMemAlloc_v2(address, bytes);
}
CuResult cuMemAllocAsync_ptsz(CuDevicePtr* address, size_t bytes, CuStream) {
  return cuMemAlloc_v2(address, bytes);
}
CuResult cuMemAllocFromPoolAsync(CuDevicePtr* address, size_t bytes, void*, CuStream) {
  return cuMemAlloc_v2(address, bytes);
}
CuResult cuMemAllocFromPoolAsync_ptsz(CuDevicePtr* address, size_t bytes, void*, CuStream) {
  return cuMemAlloc_v2(address, bytes);
}
CuResult cuMemFreeAsync(CuDevicePtr address, CuStream) { return cuMemFree_v2(address); }
CuResult cuMemFreeAsync_ptsz(CuDevicePtr address, CuStream) { return cuMemFree_v2(address); }

// Of the host: not counted, as nothing of a device is taken. Managed memory is the device's that asks for it.
CuResult cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  FAKE_ENTER_WITH_CONTEXT;
  if (bytes == 0) return misuse(kInvalidValue, "cuMemHostAlloc of 0 bytes");
  *address = std::malloc(bytes);
  if (*address == nullptr) return kOutOfMemory;
  driver().pinned.insert(*address);
  return kSuccess;
}
CuResult cuMemAllocHost_v2(void** address, size_t bytes) { return cuMemHostAlloc(address, bytes, 0); }
CuResult cuMemFreeHost(void* address) {
  FAKE_ENTER_WITH_CONTEXT;
  if (driver().pinned.erase(address) == 0)
    return misuse(kInvalidValue, "cuMemFreeHost of an unknown address");
  std::free(address);
  return kSuccess;
}
CuResult cuMemAllocManaged(CuDevicePtr* address, size_t bytes, unsigned) {
  return cuMemAlloc_v2(address, bytes);
}
// What was allocated in it ends with it; pinned memory is not looked after here. A context is its device's only one.
CuResult cuDevicePrimaryCtxReset_v2(CuDevice device) {
  FAKE_ENTER;
  if (device < 0 || device >= driver().devices) return kInvalidDevice;
  for (auto it = driver().allocations.begin(); it != driver().allocations.end();) {
    const auto& [address, range] = *it;
    if (range.device != device) {
      ++it;
      continue;
    }
    driver().used[static_cast<size_t>(device)] -= static_cast<int64_t>(range.bytes);
    give_back_space(reinterpret_cast<void*>(address), range.bytes);
    it = driver().allocations.erase(it);
  }
  return kSuccess;
}
CuResult cuCtxDestroy_v2(CuContext context) {
  return cuDevicePrimaryCtxReset_v2(static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1);
}
CuResult cuCtxGetDevice(CuDevice* device) {
  FAKE_ENTER_WITH_CONTEXT;
  *device = current_device();
  return kSuccess;
}
CuResult cuPointerGetAttribute(void* value, int attribute, CuDevicePtr address) {
  FAKE_ENTER;
  constexpr int kDeviceOrdinal = 9;
  const auto found = driver().allocations.find(address);
  if (attribute != kDeviceOrdinal || found == driver().allocations.end()) return kInvalidValue;
  *static_cast<int*>(value) = found->second.device;
  return kSuccess;
}

// As the driver does it: by the name without _v2, the newest that the version has, and its own function, whoever stands between.
CuResult cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags);
CuResult cuCtxSetCurrent(CuContext context);
GPUSTRATA_VIRTUAL_MEMORY_FUNCTIONS(FAKE_DECLARE)
CuResult cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t flags, int* status) {
#define FAKE_OWN(name) \
  { #name, reinterpret_cast < void*>(&name) }
  static const auto& own = *new std::map<std::string, void*>{
      FAKE_OWN(cuInit),
      FAKE_OWN(cuGetProcAddress),
      FAKE_OWN(cuGetProcAddress_v2),
      FAKE_OWN(cuCtxGetDevice),
      FAKE_OWN(cuDevicePrimaryCtxRetain),
      FAKE_OWN(cuCtxSetCurrent),
      FAKE_OWN(cuCtxDestroy_v2),
      FAKE_OWN(cuDevicePrimaryCtxReset_v2),
      FAKE_OWN(cuMemGetInfo_v2),
      FAKE_OWN(cuMemAlloc_v2),
      FAKE_OWN(cuMemAllocPitch_v2),
      FAKE_OWN(cuMemAllocManaged),
      FAKE_OWN(cuMemAllocHost_v2),
      FAKE_OWN(cuMemHostAlloc),
      FAKE_OWN(cuMemFreeHost),
      FAKE_OWN(cuMemFree_v2),
      FAKE_OWN(cuMemAllocAsync),
      FAKE_OWN(cuMemAllocAsync_ptsz),
      FAKE_OWN(cuMemAllocFromPoolAsync),
      FAKE_OWN(cuMemAllocFromPoolAsync_ptsz),
      FAKE_OWN(cuMemFreeAsync),
      FAKE_OWN(cuMemFreeAsync_ptsz),
      FAKE_OWN(cuMemAddressReserve),
      FAKE_OWN(cuMemAddressFree),
      FAKE_OWN(cuMemCreate),
      FAKE_OWN(cuMemRelease),
      FAKE_OWN(cuMemMap),
      FAKE_OWN(cuMemUnmap),
      FAKE_OWN(cuMemSetAccess),
  };
#undef FAKE_OWN
  constexpr uint64_t kPerThreadStreams = 2;
  const std::string name = symbol;
  const auto find = [&](const std::string& full) {
    const auto found = own.find(full);
    *function = found == own.end() ? nullptr : found->second;
    return *function != nullptr;
  };
  const bool is_there = ((flags & kPerThreadStreams) != 0 && find(name + "_ptsz")) ||
                        (!(name == "cuGetProcAddress" && version < 12000) && find(name + "_v2")) ||
                        find(name);
  if (status != nullptr) *status = is_there ? 0 : 1;
  return is_there ? kSuccess : kNotFound;
}
CuResult cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

// --- Events, streams
// -------------------------------------------------------------------------------------------

CuResult cuEventCreate(CuEvent* event, unsigned) {
  FAKE_ENTER_WITH_CONTEXT;
  *event = reinterpret_cast<CuEvent>(driver().next_name++);
  driver().events[*event].device = current_device();
  return kSuccess;
}
CuResult cuEventRecord(CuEvent event, CuStream stream) {
  FAKE_ENTER_WITH_CONTEXT;
  Event* found = nullptr;
  if (const CuResult error = find_event(event, "cuEventRecord of an event that is not here", &found);
      error != kSuccess)
    return error;
  if (const auto made = driver().streams.find(stream);
      made != driver().streams.end() && made->second != found->device)
    return misuse(kInvalidHandle, "cuEventRecord on a stream of another device");
  if (ordered_failure()) return driver().failure;
  const bool captured = driver().capturing.contains(stream);
  *found = {true, !captured && !driver().held.contains(stream), stream, found->device, captured};
  return kSuccess;
}
CuResult cuEventQuery(CuEvent event) {
  FAKE_ENTER_WITH_CONTEXT;
  Event* found = nullptr;
  if (const CuResult error = find_event(event, "cuEventQuery of an event that is not here", &found);
      error != kSuccess)
    return error;
  if (driver().query_failure != kSuccess) return driver().query_failure;
  if (found->captured) return kCapturedEvent;
  return found->finished ? kSuccess : kNotReady;
}
CuResult cuEventSynchronize(CuEvent event) {
  FAKE_ENTER_WITH_CONTEXT;
  Event* found = nullptr;
  if (const CuResult error = find_event(event, "cuEventSynchronize of an event that is not here", &found);
      error != kSuccess)
    return error;
  found->finished = true;
  return kSuccess;
}
CuResult cuStreamSynchronize(CuStream stream) {
  FAKE_ENTER_WITH_CONTEXT;
  for (auto& [name, event] : driver().events) {
    if (event.stream == stream) event.finished = true;
  }
  return kSuccess;
}
CuResult cuStreamQuery(CuStream stream) {
  FAKE_ENTER_WITH_CONTEXT;
  return driver().held.contains(stream) ? kNotReady : kSuccess;
}
CuResult cuStreamDestroy_v2(CuStream stream) {
  FAKE_ENTER_WITH_CONTEXT;
  driver().held.erase(stream);
  driver().streams.erase(stream);
  return kSuccess;
}
CuResult cuEventDestroy_v2(CuEvent event) {
  FAKE_ENTER_WITH_CONTEXT;
  return driver().events.erase(event) == 1 ? kSuccess : misuse(kInvalidHandle, "cuEventDestroy of no event");
}
// Work of a host program, done at once.
CuResult cuCtxSetCurrent(CuContext context) {
  FAKE_ENTER;
  t_contexts.assign(1, context);
  return kSuccess;
}
CuResult cuStreamCreate(CuStream* stream, unsigned) {
  FAKE_ENTER_WITH_CONTEXT;
  *stream = reinterpret_cast<CuStream>(driver().next_name++);
  driver().streams[*stream] = current_device();
  return kSuccess;
}
// Of a stream that was not made here, as tests name them: of the device that asks.
CuResult cuStreamGetCtx(CuStream stream, CuContext* context) {
  FAKE_ENTER_WITH_CONTEXT;
  const auto made = driver().streams.find(stream);
  *context = context_of(made == driver().streams.end() ? current_device() : made->second);
  return kSuccess;
}
CuResult cuMemsetD32Async(CuDevicePtr address, unsigned value, size_t words, CuStream) {
  std::fill_n(reinterpret_cast<unsigned*>(address), words, value);
  return kSuccess;
}
CuResult cuMemcpyDtoHAsync_v2(void* to, CuDevicePtr from, size_t bytes, CuStream) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}
CuResult cuThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  std::swap(*mode, current);
  return kSuccess;
}

// --- Virtual memory
// --------------------------------------------------------------------------------------------

CuResult cuMemGetAllocationGranularity(size_t* bytes, const CuMemAllocationProp*, int) {
  *bytes = kGranularity;
  return kSuccess;
}
CuResult cuMemAddressReserve(CuDevicePtr* address, size_t bytes, size_t, CuDevicePtr, unsigned long long) {
  FAKE_ENTER;
  if (bytes == 0 || bytes % kGranularity != 0)
    return misuse(kInvalidValue, "cuMemAddressReserve of part of a page");
  void* const range = space(bytes, PROT_NONE);
  if (range == nullptr) return kOutOfMemory;
  *address = reinterpret_cast<CuDevicePtr>(range);
  driver().reservations[*address] = {bytes};
  return kSuccess;
}
CuResult cuMemAddressFree(CuDevicePtr address, size_t bytes) {
  FAKE_ENTER;
  const auto found = driver().reservations.find(address);
  if (found == driver().reservations.end() || found->second.bytes != bytes)
    return misuse(kInvalidValue, "cuMemAddressFree of another range than was reserved");
  const auto page = driver().pages.lower_bound(address);
  if (page != driver().pages.end() && page->first < address + bytes)
    return misuse(kInvalidValue, "cuMemAddressFree with pages mapped");
  give_back_space(reinterpret_cast<void*>(address), bytes, found->second.had_pages);
  driver().reservations.erase(found);
  return kSuccess;
}
CuResult cuMemCreate(CuMemHandle* handle, size_t bytes, const CuMemAllocationProp* wanted,
                     unsigned long long) {
  FAKE_ENTER;
  if (bytes == 0 || bytes % kGranularity != 0 || wanted->type != kAllocationPinned ||
      wanted->location.type != kLocationDevice || wanted->location.id < 0 ||
      wanted->location.id >= driver().devices)
    return misuse(kInvalidValue, "cuMemCreate of something else than pages of a device");
  if (const CuResult error = take(wanted->location.id, bytes); error != kSuccess) return error;
  *handle = driver().next_name++;
  driver().handles[*handle] = {bytes, wanted->location.id};
  return kSuccess;
}
CuResult cuMemRelease(CuMemHandle handle) {
  FAKE_ENTER;
  const auto found = driver().handles.find(handle);
  if (found == driver().handles.end()) return misuse(kInvalidValue, "cuMemRelease of an unknown handle");
  for (const auto& [address, page] : driver().pages) {
    if (page.handle == handle)
      return misuse(kInvalidValue, "cuMemRelease of a mapped handle (kept until unmapped)");
  }
  driver().used[static_cast<size_t>(found->second.device)] -= static_cast<int64_t>(found->second.bytes);
  driver().handles.erase(found);
  return kSuccess;
}
CuResult cuMemMap(CuDevicePtr address, size_t bytes, size_t offset, CuMemHandle handle, unsigned long long) {
  FAKE_ENTER;
  const auto found = driver().handles.find(handle);
  if (found == driver().handles.end() || found->second.bytes != bytes || offset != 0)
    return misuse(kInvalidValue, "cuMemMap of an unknown handle or a part of it");
  auto reservation = driver().reservations.upper_bound(address);
  if (reservation == driver().reservations.begin() ||
      address + bytes > std::prev(reservation)->first + std::prev(reservation)->second.bytes)
    return misuse(kInvalidValue, "cuMemMap outside a reservation");
  --reservation;
  const auto next = driver().pages.lower_bound(address);
  const bool overlaps =
      (next != driver().pages.end() && next->first < address + bytes) ||
      (next != driver().pages.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address);
  if (overlaps) return misuse(kInvalidValue, "cuMemMap over mapped pages");
  if (ordered_failure()) return driver().failure;
  driver().pages[address] = {bytes, handle, found->second.device, false, {}};
  reservation->second.had_pages = true;
  return kSuccess;
}
CuResult cuMemUnmap(CuDevicePtr address, size_t bytes) {
  FAKE_ENTER;
  const auto found = driver().pages.find(address);
  if (found == driver().pages.end() || found->second.bytes != bytes)
    return misuse(kInvalidValue, "cuMemUnmap of another range than was mapped");
  // The memory is gone for whoever still uses it.
  (void)mprotect(reinterpret_cast<void*>(address), bytes, PROT_NONE);
  (void)madvise(reinterpret_cast<void*>(address), bytes, MADV_DONTNEED);
  driver().pages.erase(found);
  return kSuccess;
}
CuResult cuMemSetAccess(CuDevicePtr address, size_t bytes, const CuMemAccessDesc* access, size_t count) {
  FAKE_ENTER;
  if (count == 0 || access[0].flags != kAccessReadWrite)
    return misuse(kInvalidValue, "cuMemSetAccess without access");
  CuDevicePtr at = address;
  for (auto page = driver().pages.find(address); at < address + bytes; ++page) {
    if (page == driver().pages.end() || page->first != at)
      return misuse(kInvalidValue, "cuMemSetAccess of a range that is not mapped");
    page->second.accessible = true;
    page->second.readers.clear();
    for (size_t i = 0; i < count; ++i) page->second.readers.insert(access[i].location.id);
    at += page->second.bytes;
  }
  (void)mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE);
  return kSuccess;
}

// --- Looked up by PyTorch, called only for what other processes or graphs share: not here

#define FAKE_MISSING(name) \
  CuResult name() { return kNotSupported; }
FAKE_MISSING(cuMemExportToShareableHandle)
FAKE_MISSING(cuMemImportFromShareableHandle)
FAKE_MISSING(cuMemRetainAllocationHandle)
FAKE_MISSING(cuMemGetAllocationPropertiesFromHandle)
FAKE_MISSING(cuStreamWriteValue32)
FAKE_MISSING(cuMulticastAddDevice)
FAKE_MISSING(cuMulticastBindMem)
FAKE_MISSING(cuMulticastCreate)
FAKE_MISSING(cuMulticastUnbind)

// The allocation or reservation around an address.
CuResult cuMemGetAddressRange_v2(CuDevicePtr* base, size_t* size, CuDevicePtr address) {
  FAKE_ENTER;
  const auto found = driver().allocations.upper_bound(address);
  if (found == driver().allocations.begin()) return kInvalidValue;
  const auto& [start, range] = *std::prev(found);
  if (address >= start + range.bytes) return kInvalidValue;
  if (base != nullptr) *base = start;
  if (size != nullptr) *size = range.bytes;
  return kSuccess;
}

// --- For tests
// -------------------------------------------------------------------------------------------------

// From now on work on the stream does not finish by itself.
void fake_cuda_hold(void* stream) {
  const std::lock_guard guard(driver().lock);
  driver().held.insert(static_cast<CuStream>(stream));
}
void fake_cuda_finish(void* stream) {
  const std::lock_guard guard(driver().lock);
  driver().held.erase(static_cast<CuStream>(stream));
  for (auto& [name, event] : driver().events) {
    if (event.stream == stream) event.finished = true;
  }
}
// Work on the stream goes into a graph from now on, or no more: a host program's own capture.
void fake_cuda_capture(void* stream, int on) {
  const std::lock_guard guard(driver().lock);
  if (on != 0) {
    driver().capturing.insert(static_cast<CuStream>(stream));
  } else {
    driver().capturing.erase(static_cast<CuStream>(stream));
  }
}
// Whether the device may use the mapped page that holds the address; -1 = nothing is mapped there.
int fake_cuda_reaches(int device, void* pointer) {
  const std::lock_guard guard(driver().lock);
  const auto address = reinterpret_cast<CuDevicePtr>(pointer);
  auto page = driver().pages.upper_bound(address);
  if (page == driver().pages.begin()) return -1;
  --page;
  if (address >= page->first + page->second.bytes) return -1;
  return page->second.readers.contains(device) ? 1 : 0;
}
// The device whose memory holds the address; -1 = it is no device memory.
int fake_cuda_owner(void* pointer) {
  const std::lock_guard guard(driver().lock);
  const auto address = reinterpret_cast<CuDevicePtr>(pointer);
  if (const auto found = driver().allocations.upper_bound(address); found != driver().allocations.begin()) {
    const auto& [start, range] = *std::prev(found);
    if (address < start + range.bytes) return range.device;
  }
  if (const auto found = driver().pages.upper_bound(address); found != driver().pages.begin()) {
    const auto& [start, page] = *std::prev(found);
    if (address < start + page.bytes) return page.device;
  }
  return -1;
}
// The n-th call from now (1 = the next) that takes memory, maps or records an event fails.
void fake_cuda_fail(int n, int error) {
  const std::lock_guard guard(driver().lock);
  driver().until_failure = n;
  driver().failure = error;
}
// Every question for an event's end gives this error; 0 = the right answer again.
void fake_cuda_fail_queries(int error) {
  const std::lock_guard guard(driver().lock);
  driver().query_failure = error;
}
int64_t fake_cuda_used(int device) {
  const std::lock_guard guard(driver().lock);
  return driver().used[static_cast<size_t>(device)];
}
int64_t fake_cuda_misuses() {
  const std::lock_guard guard(driver().lock);
  return driver().misuses;
}
int64_t fake_cuda_events() {
  const std::lock_guard guard(driver().lock);
  return static_cast<int64_t>(driver().events.size());
}

}  // extern "C"
