// The list of the watched entry points; cuda/driver_abi_check.cpp compares it with CUDA's own header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/cuda/driver_abi.h"

namespace gpustrata::preload {

using CuMemPool = struct CuMemPoolTag*;

}  // namespace gpustrata::preload

// (symbol, name that cuGetProcAddress knows it by, its first version there, of per-thread streams, parameters)
#define GPUSTRATA_WATCHED(F)                                                                               \
  F(cuInit, "cuInit", 2000, false, (unsigned flags))                                                       \
  F(cuGetProcAddress, "cuGetProcAddress", 11030, false,                                                    \
    (const char* symbol, void** function, int version, uint64_t flags))                                    \
  F(cuGetProcAddress_v2, "cuGetProcAddress", 12000, false,                                                 \
    (const char* symbol, void** function, int version, uint64_t flags, int* status))                       \
  F(cuMemAlloc_v2, "cuMemAlloc", 3020, false, (CuDevicePtr * address, size_t bytes))                       \
  F(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020, false,                                                    \
    (CuDevicePtr * address, size_t * pitch, size_t width, size_t height, unsigned element))                \
  F(cuMemAllocManaged, "cuMemAllocManaged", 6000, false,                                                   \
    (CuDevicePtr * address, size_t bytes, unsigned flags))                                                 \
  F(cuMemAllocHost_v2, "cuMemAllocHost", 3020, false, (void** address, size_t bytes))                      \
  F(cuMemHostAlloc, "cuMemHostAlloc", 2020, false, (void** address, size_t bytes, unsigned flags))         \
  F(cuMemAllocAsync, "cuMemAllocAsync", 11020, false,                                                      \
    (CuDevicePtr * address, size_t bytes, CuStream stream))                                                \
  F(cuMemAllocAsync_ptsz, "cuMemAllocAsync", 11020, true,                                                  \
    (CuDevicePtr * address, size_t bytes, CuStream stream))                                                \
  F(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", 11020, false,                                      \
    (CuDevicePtr * address, size_t bytes, CuMemPool pool, CuStream stream))                                \
  F(cuMemAllocFromPoolAsync_ptsz, "cuMemAllocFromPoolAsync", 11020, true,                                  \
    (CuDevicePtr * address, size_t bytes, CuMemPool pool, CuStream stream))                                \
  F(cuMemFree_v2, "cuMemFree", 3020, false, (CuDevicePtr address))                                         \
  F(cuMemFreeHost, "cuMemFreeHost", 2000, false, (void* address))                                          \
  F(cuMemFreeAsync, "cuMemFreeAsync", 11020, false, (CuDevicePtr address, CuStream stream))                \
  F(cuMemFreeAsync_ptsz, "cuMemFreeAsync", 11020, true, (CuDevicePtr address, CuStream stream))            \
  F(cuMemCreate, "cuMemCreate", 10020, false,                                                              \
    (CuMemHandle * handle, size_t bytes, const CuMemAllocationProp* properties, unsigned long long flags)) \
  F(cuMemRelease, "cuMemRelease", 10020, false, (CuMemHandle handle))                                      \
  F(cuMemMap, "cuMemMap", 10020, false,                                                                    \
    (CuDevicePtr address, size_t bytes, size_t offset, CuMemHandle handle, unsigned long long flags))      \
  F(cuMemUnmap, "cuMemUnmap", 10020, false, (CuDevicePtr address, size_t bytes))                           \
  F(cuCtxDestroy_v2, "cuCtxDestroy", 4000, false, (CuContext context))                                     \
  F(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", 11000, false, (CuDevice device))
