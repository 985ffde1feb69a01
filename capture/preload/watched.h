// The entry points of the CUDA driver that are watched, ours and the driver's.
//
// A program comes to them in three ways: it is linked to libcuda.so.1 (the dynamic linker finds ours first), it asks dlsym (ours,
// dlsym.cpp), or it asks cuGetProcAddress (ours, lookup.cpp), as a runtime that is linked statically does. In each way the
// driver's own is learnt, or looked up with the first call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/preload/watched_list.h"

namespace gpustrata::preload {

using namespace gpustrata::capture::cuda;
enum class Watched : int {
#define GPUSTRATA_NUMBER(symbol, ...) symbol,
  GPUSTRATA_WATCHED(GPUSTRATA_NUMBER)
#undef GPUSTRATA_NUMBER
      count
};

// The one that a program means by a name that it gives to dlsym, or null; `*which` is its number.
[[nodiscard]] void* ours_of_symbol(const char* symbol, Watched* which);
// By a name, a version and flags that it gives to cuGetProcAddress.
[[nodiscard]] void* ours_of_name(const char* name, int version, uint64_t flags, Watched* which);

// The driver's; null: it has none. What was learnt first stays.
[[nodiscard]] void* theirs(Watched which);
void learn_theirs(Watched which, void* function);
// Another function of the driver; null: it has none.
[[nodiscard]] void* of_driver(const char* symbol);
// dlsym as it is without this library, whose own callers are here.
[[nodiscard]] void* plain_dlsym(void* handle, const char* symbol);

// A watched call that this thread makes inside another one of this thread is passed on and not told: some of the driver's
// functions, and libraries that stand between, call others.
class Outermost {
 public:
  Outermost() : is_(t_depth++ == 0) {}
  ~Outermost() { --t_depth; }
  Outermost(const Outermost&) = delete;
  Outermost& operator=(const Outermost&) = delete;
  explicit operator bool() const { return is_; }

 private:
  // Of the library's first loading: takes no memory when a thread first asks.
  // NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit says that it is not
  [[gnu::tls_model("initial-exec")]] static constinit thread_local int t_depth;
  bool is_;
};

}  // namespace gpustrata::preload

extern "C" {
#define GPUSTRATA_DECLARE(symbol, name, since, per_thread, parameters) \
  [[gnu::visibility("default")]] gpustrata::capture::cuda::CuResult symbol parameters;
using gpustrata::capture::cuda::CuContext;
using gpustrata::capture::cuda::CuDevice;
using gpustrata::capture::cuda::CuDevicePtr;
using gpustrata::capture::cuda::CuMemAllocationProp;
using gpustrata::capture::cuda::CuMemHandle;
using gpustrata::capture::cuda::CuStream;
using gpustrata::preload::CuMemPool;
GPUSTRATA_WATCHED(GPUSTRATA_DECLARE)
#undef GPUSTRATA_DECLARE
}
