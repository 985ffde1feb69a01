// Which function is meant by a name, and where the driver's own is.
#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "capture/preload/watched.h"

namespace gpustrata::preload {

namespace {

struct Entry {
  const char* symbol;
  const char* name;
  int since;
  bool per_thread;
  void* ours;
};

#define GPUSTRATA_ENTRY(symbol, name, since, per_thread, parameters) \
  {#symbol, name, since, per_thread, reinterpret_cast<void*>(&::symbol)},
const Entry kEntries[] = {GPUSTRATA_WATCHED(GPUSTRATA_ENTRY)};
#undef GPUSTRATA_ENTRY
constexpr int kCount = static_cast<int>(Watched::count);
std::atomic<void*> g_theirs[kCount];

constexpr uint64_t kPerThreadStreams = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

[[nodiscard]] bool begins_as_driver(const char* name) { return name[0] == 'c' && name[1] == 'u'; }

}  // namespace

constinit thread_local int Outermost::t_depth = 0;

void* ours_of_symbol(const char* symbol, Watched* which) {
  if (!begins_as_driver(symbol)) return nullptr;
  for (int i = 0; i < kCount; ++i) {
    if (std::strcmp(kEntries[i].symbol, symbol) != 0) continue;
    *which = static_cast<Watched>(i);
    return kEntries[i].ours;
  }
  return nullptr;
}

void* ours_of_name(const char* name, int version, uint64_t flags, Watched* which) {
  if (!begins_as_driver(name)) return nullptr;
  int best = -1;
  for (int i = 0; i < kCount; ++i) {
    const Entry& entry = kEntries[i];
    if (std::strcmp(entry.name, name) != 0 || entry.since > version) continue;
    if (entry.per_thread && (flags & kPerThreadStreams) == 0) continue;
    // Newer, or made for the streams that are asked for: they stand later.
    if (best < 0 || entry.since >= kEntries[best].since) best = i;
  }
  if (best < 0) return nullptr;
  *which = static_cast<Watched>(best);
  return kEntries[best].ours;
}

void* of_driver(const char* symbol) {
  // What comes next may be another library that stands between.
  void* function = plain_dlsym(RTLD_NEXT, symbol);
  if (function != nullptr) return function;
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  function = plain_dlsym(library, symbol);
  (void)dlclose(library);
  return function;
}

void* theirs(Watched which) {
  void* function = g_theirs[static_cast<int>(which)].load(std::memory_order_acquire);
  if (function != nullptr) return function;
  function = of_driver(kEntries[static_cast<int>(which)].symbol);
  if (function != nullptr) learn_theirs(which, function);
  return function;
}

void learn_theirs(Watched which, void* function) {
  void* none = nullptr;
  if (function != kEntries[static_cast<int>(which)].ours)
    (void)g_theirs[static_cast<int>(which)].compare_exchange_strong(none, function,
                                                                    std::memory_order_acq_rel);
}

namespace {

// What the driver answered, or ours in its place.
void replace(const char* symbol, void** function, int version, uint64_t flags) {
  if (symbol == nullptr || function == nullptr || *function == nullptr) return;
  Watched which{};
  void* const ours = ours_of_name(symbol, version, flags, &which);
  if (ours == nullptr || ours == *function) return;
  learn_theirs(which, *function);
  *function = ours;
}

}  // namespace
}  // namespace gpustrata::preload

using namespace gpustrata::preload;

CuResult cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
  const auto call = reinterpret_cast<decltype(&cuGetProcAddress)>(theirs(Watched::cuGetProcAddress));
  if (call == nullptr) return kNotInitialized;
  const CuResult result = call(symbol, function, version, flags);
  if (result == kSuccess) replace(symbol, function, version, flags);
  return result;
}
CuResult cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t flags, int* status) {
  const auto call = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(theirs(Watched::cuGetProcAddress_v2));
  if (call == nullptr) return kNotInitialized;
  const CuResult result = call(symbol, function, version, flags, status);
  if (result == kSuccess) replace(symbol, function, version, flags);
  return result;
}
