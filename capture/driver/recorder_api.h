// Between libgpustrata_driver.so, which is preloaded and hears the calls, and libgpustrata_capture.so, which keeps them: the
// former is loaded into every process of a run and needs no C++ library; the latter when a process first uses the driver.
//
// All functions are safe from any thread, throw nothing, call no driver, and do nothing in a forked child of the process that
// began: its parent has the file.
#pragma once

#include <cstdint>

#include "capture/gpustrata.h"

enum gpustrata_driver_place : int32_t {
  GPUSTRATA_ON_DEVICE = 0,
  GPUSTRATA_ON_HOST = 1,  // pinned
  GPUSTRATA_MANAGED = 2   // lies where it is used
};

struct gpustrata_driver_block {
  uint64_t address;
  int64_t size;
  int64_t stream;
  uint64_t pool;     // 0: none; 1: the device's own of cuMemAllocAsync; others: their handles
  uint64_t context;  // that it ends with
  int32_t device;
  int32_t place;  // gpustrata_driver_place
  // Its recorder's: who asked.
  int32_t stack;
  int32_t owner;
};

struct gpustrata_driver_options {
  const char* output;     // a path; {host}, {rank}, {device}, {pid} as in `gpustrata run`
  int64_t max_size;       // 0: the journal's default
  int32_t native_stacks;  // else who asked is the caller alone
  int32_t is_beside;      // PyTorch's allocator has a file of that name in this process
  const void* preloaded;  // an address of the library that calls: its frames are left out
};

extern "C" {
// Once a process, before anything else. 0, or it cannot record: stderr says why.
GPUSTRATA_API int gpustrata_driver_begin(const gpustrata_driver_options* options);
// The call that gave it has returned, its caller not yet heard of it. `caller` asked.
GPUSTRATA_API void gpustrata_driver_allocated(const gpustrata_driver_block* block, const void* caller);
// Before the call that gives it back. 1: it was known, and is in `*block`.
GPUSTRATA_API int gpustrata_driver_freeing(uint64_t address, gpustrata_driver_block* block);
// That call failed.
GPUSTRATA_API void gpustrata_driver_kept(const gpustrata_driver_block* block);
// The driver refused for lack of memory, and this much was free.
GPUSTRATA_API void gpustrata_driver_refused(const gpustrata_driver_block* block, int64_t free_bytes);
// Before a context is destroyed; `context` 0: before all of a device ends.
GPUSTRATA_API void gpustrata_driver_ending(int device, uint64_t context);
// That failed.
GPUSTRATA_API void gpustrata_driver_not_ended(void);
// Physical memory of cuMemCreate. It counts where and while it is mapped.
GPUSTRATA_API void gpustrata_driver_created(uint64_t handle, const gpustrata_driver_block* block);
// Before cuMemRelease.
GPUSTRATA_API int gpustrata_driver_releasing(uint64_t handle, gpustrata_driver_block* block);
GPUSTRATA_API void gpustrata_driver_mapped(uint64_t address, int64_t size, uint64_t handle,
                                           const void* caller);
GPUSTRATA_API void gpustrata_driver_unmapped(uint64_t address, int64_t size);
// What lay on a device before the first of all.
GPUSTRATA_API void gpustrata_driver_found(int device, int64_t used_bytes, int64_t total_bytes);
// A named part of the program begins on this thread; NULL: the last that began here ends. How deep it is then.
GPUSTRATA_API int gpustrata_driver_region(const char* name, int device);
// The process ends. 0: nothing was recorded, and nothing said.
GPUSTRATA_API int gpustrata_driver_end(void);
}
