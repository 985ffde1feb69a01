// A program that uses the driver as programs do, and writes down what it was given: the truth for driver_test.py.
//
//   driver_program COMMAND WAY [LISTS] [SEED] [CALLS] [THREADS]
//   WAY   linked (only where it is built so), loaded: dlopen and dlsym, asked: dlopen, dlsym of cuGetProcAddress, as a runtime that
//         is linked statically; streams: asked, for per-thread streams
//   COMMAND
//     random   CALLS on each of THREADS; LISTS is a folder with a file of each thread: a line when a call has returned
//     mapped   virtual memory
//     reset    contexts end with what is in them
//     full     the device has no more
//     ended    by exit() in a handler of SIGTERM, whatever it does then
//     fork     a child allocates nothing and ends; its parent goes on
//     ranges   NVTX: LISTS is the library
//     cost     CALLS pairs, prints nanoseconds of one
//     nothing  no driver at all
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "capture/cuda/driver_abi.h"

using namespace gpustrata::capture::cuda;

#define FUNCTIONS(F)                                                                                       \
  F(cuInit, cuInit, (unsigned flags))                                                                      \
  F(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CuContext * context, CuDevice device))            \
  F(cuCtxSetCurrent, cuCtxSetCurrent, (CuContext context))                                                 \
  F(cuCtxDestroy, cuCtxDestroy_v2, (CuContext context))                                                    \
  F(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, (CuDevice device))                                \
  F(cuMemAlloc, cuMemAlloc_v2, (CuDevicePtr * address, size_t bytes))                                      \
  F(cuMemFree, cuMemFree_v2, (CuDevicePtr address))                                                        \
  F(cuMemAllocPitch, cuMemAllocPitch_v2,                                                                   \
    (CuDevicePtr * address, size_t * pitch, size_t width, size_t height, unsigned size))                   \
  F(cuMemAllocManaged, cuMemAllocManaged, (CuDevicePtr * address, size_t bytes, unsigned flags))           \
  F(cuMemAllocHost, cuMemAllocHost_v2, (void** address, size_t bytes))                                     \
  F(cuMemHostAlloc, cuMemHostAlloc, (void** address, size_t bytes, unsigned flags))                        \
  F(cuMemFreeHost, cuMemFreeHost, (void* address))                                                         \
  F(cuMemAllocAsync, cuMemAllocAsync, (CuDevicePtr * address, size_t bytes, CuStream stream))              \
  F(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync,                                                      \
    (CuDevicePtr * address, size_t bytes, void* pool, CuStream stream))                                    \
  F(cuMemFreeAsync, cuMemFreeAsync, (CuDevicePtr address, CuStream stream))                                \
  F(cuMemAddressReserve, cuMemAddressReserve,                                                              \
    (CuDevicePtr * address, size_t bytes, size_t alignment, CuDevicePtr wanted, unsigned long long flags)) \
  F(cuMemAddressFree, cuMemAddressFree, (CuDevicePtr address, size_t bytes))                               \
  F(cuMemCreate, cuMemCreate,                                                                              \
    (CuMemHandle * handle, size_t bytes, const CuMemAllocationProp* properties, unsigned long long flags)) \
  F(cuMemRelease, cuMemRelease, (CuMemHandle handle))                                                      \
  F(cuMemMap, cuMemMap,                                                                                    \
    (CuDevicePtr address, size_t bytes, size_t offset, CuMemHandle handle, unsigned long long flags))      \
  F(cuMemUnmap, cuMemUnmap, (CuDevicePtr address, size_t bytes))

#define DECLARE(name, symbol, parameters) extern "C" CuResult symbol parameters;
FUNCTIONS(DECLARE)
#undef DECLARE

namespace {

struct Driver {
#define MEMBER(name, symbol, parameters) CuResult(*name) parameters = nullptr;
  FUNCTIONS(MEMBER)
#undef MEMBER
} driver;

[[noreturn]] void fail(const char* what) {
  std::printf("%s\n", what);
  std::_Exit(1);
}
void must(CuResult result) {
  if (result != kSuccess) {
    std::printf("the driver says %d\n", result);
    std::_Exit(1);
  }
}

void find(std::string_view way) {
#ifdef LINKED
#define TAKE(name, symbol, parameters) driver.name = symbol;
  FUNCTIONS(TAKE)
#undef TAKE
  if (way != "linked") fail("this one is linked");
#else
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(dlerror());
  if (way == "loaded") {
#define LOAD(name, symbol, parameters) \
  driver.name = reinterpret_cast<CuResult(*) parameters>(dlsym(library, #symbol));
    FUNCTIONS(LOAD)
#undef LOAD
    return;
  }
  using Ask = CuResult (*)(const char*, void**, int, uint64_t, int*);
  auto ask = reinterpret_cast<Ask>(dlsym(library, "cuGetProcAddress_v2"));
  void* found = nullptr;
  int status = 0;
  // It asks for the asking function, too.
  must(ask("cuGetProcAddress", &found, 12080, 0, &status));
  ask = reinterpret_cast<Ask>(found);
  const uint64_t flags = way == "streams" ? 2 : 0;
#define ASK(name, symbol, parameters)              \
  must(ask(#name, &found, 12080, flags, &status)); \
  driver.name = reinterpret_cast<CuResult(*) parameters>(found);
  FUNCTIONS(ASK)
#undef ASK
#endif
}

void use_device() {
  CuContext context = nullptr;
  must(driver.cuDevicePrimaryCtxRetain(&context, 0));
  must(driver.cuCtxSetCurrent(context));
}

struct Held {
  int kind;
  CuDevicePtr address;
};
constexpr const char* kKinds[] = {"alloc", "pitch", "async", "pool", "managed", "host", "hostalloc"};
CuStream stream_of(int thread) { return reinterpret_cast<CuStream>(static_cast<uintptr_t>(16 + thread)); }
void* const kPool = reinterpret_cast<void*>(uintptr_t{0x77});

[[gnu::noinline]] Held take(int kind, size_t bytes, int thread, size_t& taken) {
  CuDevicePtr address = 0;
  void* host = nullptr;
  size_t pitch = 0;
  taken = bytes;
  switch (kind) {
    case 0:
      must(driver.cuMemAlloc(&address, bytes));
      break;
    case 1:
      must(driver.cuMemAllocPitch(&address, &pitch, bytes / 4, 4, 4));
      taken = pitch * 4;
      break;
    case 2:
      must(driver.cuMemAllocAsync(&address, bytes, stream_of(thread)));
      break;
    case 3:
      must(driver.cuMemAllocFromPoolAsync(&address, bytes, kPool, stream_of(thread)));
      break;
    case 4:
      must(driver.cuMemAllocManaged(&address, bytes, 1));
      break;
    case 5:
      must(driver.cuMemAllocHost(&host, bytes));
      break;
    default:
      must(driver.cuMemHostAlloc(&host, bytes, 0));
      break;
  }
  return {kind, kind >= 5 ? reinterpret_cast<CuDevicePtr>(host) : address};
}
[[gnu::noinline]] void give(const Held& held, int thread) {
  if (held.kind >= 5) {
    must(driver.cuMemFreeHost(reinterpret_cast<void*>(held.address)));
  } else if (held.kind == 2 || held.kind == 3) {
    must(driver.cuMemFreeAsync(held.address, stream_of(thread)));
  } else {
    must(driver.cuMemFree(held.address));
  }
}

void random_calls(const std::string& folder, uint64_t seed, int calls, int thread) {
  use_device();
  std::FILE* const list = std::fopen((folder + "/" + std::to_string(thread)).c_str(), "w");
  if (list == nullptr) fail("no list");
  std::mt19937_64 random(seed * 1000 + static_cast<uint64_t>(thread));
  std::vector<Held> held;
  for (int i = 0; i < calls; ++i) {
    if (held.size() < 4 || (held.size() < 40 && random() % 2 == 0)) {
      size_t taken = 0;
      const size_t bytes = 4 * (1 + random() % 5000);
      const Held one = take(static_cast<int>(random() % 7), bytes, thread, taken);
      held.push_back(one);
      std::fprintf(list, "%s %llu %zu\n", kKinds[one.kind], one.address, taken);
    } else {
      const size_t which = random() % held.size();
      // What it is about to give back, then that it has.
      std::fprintf(list, "freeing %llu\n", held[which].address);
      std::fflush(list);
      give(held[which], thread);
      std::fprintf(list, "freed %llu\n", held[which].address);
      held[which] = held.back();
      held.pop_back();
    }
    std::fflush(list);
  }
  std::fclose(list);
}

void mapped() {
  use_device();
  constexpr size_t kPage = size_t{2} << 20;
  CuDevicePtr place = 0;
  must(driver.cuMemAddressReserve(&place, 4 * kPage, 0, 0, 0));
  CuMemAllocationProp properties{};
  properties.type = kAllocationPinned;
  properties.location = {kLocationDevice, 0};
  CuMemHandle handles[2];
  for (int i = 0; i < 2; ++i) {
    must(driver.cuMemCreate(&handles[i], kPage, &properties, 0));
    must(driver.cuMemMap(place + static_cast<size_t>(i) * kPage, kPage, 0, handles[i], 0));
  }
  // The first lies at two places; it stays where it is still mapped.
  must(driver.cuMemMap(place + 3 * kPage, kPage, 0, handles[0], 0));
  must(driver.cuMemUnmap(place, kPage));
  must(driver.cuMemUnmap(place + kPage, kPage));
  must(driver.cuMemRelease(handles[1]));
  std::printf("%llu\n", place);
}

void reset() {
  use_device();
  size_t taken = 0;
  for (const int kind : {0, 2, 5}) (void)take(kind, 4096, 0, taken);
  if (driver.cuDevicePrimaryCtxReset(77) == kSuccess || driver.cuCtxDestroy(nullptr) == kSuccess)
    fail("there was such a one");
  CuContext context = nullptr;
  must(driver.cuDevicePrimaryCtxRetain(&context, 0));
  must(driver.cuCtxDestroy(context));  // but for what is of a pool
  must(driver.cuDevicePrimaryCtxReset(0));
  (void)take(0, 8192, 0, taken);
}

// As NVTX's header does it.
using InitializeInjection = int (*)(const void* (*)(uint32_t));
void* g_functions[16];
void* g_table[16];
int of_module(int, void*** table, unsigned* count) {
  for (int i = 0; i < 16; ++i) g_table[i] = &g_functions[i];
  *table = g_table;
  *count = 15;
  return 1;
}
const void* export_table(uint32_t id) {
  static const struct {
    size_t bytes = sizeof(size_t) + sizeof(void*);
    int (*module)(int, void***, unsigned*) = of_module;
  } callbacks;
  return id == 1 ? &callbacks : nullptr;
}
void ranges(const char* path) {
  use_device();
  void* const library = dlopen(path, RTLD_NOW);
  if (library == nullptr) fail(dlerror());
  const auto begin = reinterpret_cast<InitializeInjection>(dlsym(library, "InitializeInjectionNvtx2"));
  if (begin(export_table) == 0) fail("not injected");
  const auto push = reinterpret_cast<int (*)(const char*)>(g_functions[9]);
  const auto pop = reinterpret_cast<int (*)()>(g_functions[11]);
  size_t taken = 0;
  const Held before = take(0, 4096, 0, taken);
  if (push("step") != 0 || push("forward") != 1) fail("depth of a push");
  const Held inside = take(0, 8192, 0, taken);
  if (pop() != 1) fail("depth of a pop");
  give(inside, 0);
  if (pop() != 0 || pop() >= 0) fail("depth of the last pop");
  give(before, 0);
}

void cost(int calls) {
  use_device();
  size_t taken = 0;
  for (int round = 0; round < 2; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) give(take(0, 4096, 0, taken), 0);
    const auto took = std::chrono::steady_clock::now() - begin;
    if (round == 1)
      std::printf("%lld\n", static_cast<long long>(
                                std::chrono::duration_cast<std::chrono::nanoseconds>(took).count() / calls));
  }
}

}  // namespace

int main(int count, char** words) {
  const std::string_view command = count > 1 ? words[1] : "nothing";
  if (command == "nothing") return count > 2 ? std::atoi(words[2]) : 0;
  find(count > 2 ? words[2] : "linked");
  must(driver.cuInit(0));
  const std::string lists = count > 3 ? words[3] : "";
  const uint64_t seed = count > 4 ? std::strtoull(words[4], nullptr, 10) : 1;
  const int calls = count > 5 ? std::atoi(words[5]) : 1;
  const int threads = count > 6 ? std::atoi(words[6]) : 1;
  if (command == "random") {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back(random_calls, lists, seed, calls, i);
    for (std::thread& one : all) one.join();
  } else if (command == "ended") {
    (void)std::signal(SIGTERM, [](int) { std::exit(9); });
    random_calls(lists, seed, calls, 0);
  } else if (command == "mapped") {
    mapped();
  } else if (command == "reset") {
    reset();
  } else if (command == "full") {
    use_device();
    CuDevicePtr address = 0;
    must(driver.cuMemAlloc(&address, 1 << 20));
    if (driver.cuMemAlloc(&address, size_t{1} << 40) != kOutOfMemory) fail("it had that much");
    return 7;
  } else if (command == "fork") {
    use_device();
    size_t taken = 0;
    const Held first = take(0, 4096, 0, taken);
    const pid_t child = fork();
    // The driver cannot be used in it.
    if (child == 0) return driver.cuMemAlloc(nullptr, 4096) == kSuccess ? 1 : 0;
    int status = 0;
    (void)waitpid(child, &status, 0);
    give(first, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  } else if (command == "ranges") {
    ranges(lists.c_str());
  } else if (command == "cost") {
    cost(calls);
  } else {
    fail("no such command");
  }
  return 0;
}
