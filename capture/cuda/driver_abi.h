// What is used of the CUDA driver's binary interface: types, constants, entry points.
//
// The driver is loaded at run time and CUDA's headers need not be there when this is built. Where CMake finds
// <cuda.h>, driver_abi_check.cpp compares every size, offset, value and signature with it. All names are
// those of the driver, in this project's spelling; values and symbol versions are stable (CUDA 11.0 to 13).
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpustrata::capture::cuda {

using CuResult = int;
using CuDevice = int;
using CuDevicePtr = unsigned long long;
using CuMemHandle = unsigned long long;
using CuContext = struct CuContextTag*;
using CuStream = struct CuStreamTag*;
using CuEvent = struct CuEventTag*;

inline constexpr CuResult kSuccess = 0;
inline constexpr CuResult kInvalidValue = 1;
inline constexpr CuResult kOutOfMemory = 2;
inline constexpr CuResult kNotInitialized = 3;
inline constexpr CuResult kDeinitialized = 4;  // the process ends and the driver is gone
inline constexpr CuResult kStubLibrary = 34;   // libcuda of a toolkit, without a driver
inline constexpr CuResult kNoDevice = 100;
inline constexpr CuResult kInvalidDevice = 101;
inline constexpr CuResult kInvalidContext = 201;
inline constexpr CuResult kInvalidHandle = 400;
inline constexpr CuResult kNotReady = 600;
inline constexpr CuResult kIllegalAddress = 700;
inline constexpr CuResult kLaunchTimeout = 702;
inline constexpr CuResult kContextIsDestroyed = 709;
inline constexpr CuResult kAssert = 710;
inline constexpr CuResult kHardwareStackError = 714;  // up to kLaunchFailed: a kernel went wrong
inline constexpr CuResult kLaunchFailed = 719;
inline constexpr CuResult kCapturedEvent = 907;  // it was recorded into a graph that is being captured

// After these the context is dead: every later call gives the same error, nothing on the device runs any
// more.
[[nodiscard]] constexpr bool is_end_of_context(CuResult error) {
  return error == kDeinitialized || error == kIllegalAddress || error == kLaunchTimeout ||
         error == kContextIsDestroyed || error == kAssert ||
         (error >= kHardwareStackError && error <= kLaunchFailed);
}

inline constexpr int kAttributeVirtualMemory = 102;        // ..._VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
inline constexpr int kAttributeRdmaOfVirtualMemory = 110;  // ..._GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED
inline constexpr int kLocationDevice = 1;
inline constexpr int kAllocationPinned = 1;
inline constexpr int kAccessReadWrite = 3;
inline constexpr int kGranularityMinimum = 0;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr int kCaptureNone = 0;  // of a stream: no graph is being captured
inline constexpr unsigned kEventDisableTiming = 2;

struct CuMemLocation {
  int type;
  int id;
};
struct CuMemAllocationProp {
  int type;
  int requested_handle_types;
  CuMemLocation location;
  void* win32_handle_meta_data;
  struct {
    unsigned char compression_type;
    unsigned char gpu_direct_rdma_capable;
    unsigned short usage;
    unsigned char reserved[4];
  } alloc_flags;
};
struct CuMemAccessDesc {
  CuMemLocation location;
  int flags;
};

// (member, symbol, parameters): every function used. All return a CuResult.
#define GPUSTRATA_DRIVER_FUNCTIONS(F)                                                                \
  F(init, cuInit, (unsigned flags))                                                                  \
  F(driver_get_version, cuDriverGetVersion, (int* version))                                          \
  F(get_error_name, cuGetErrorName, (CuResult error, const char** text))                             \
  F(get_error_string, cuGetErrorString, (CuResult error, const char** text))                         \
  F(device_get_count, cuDeviceGetCount, (int* count))                                                \
  F(device_get, cuDeviceGet, (CuDevice * device, int ordinal))                                       \
  F(device_get_attribute, cuDeviceGetAttribute, (int* value, int attribute, CuDevice device))        \
  F(device_can_access_peer, cuDeviceCanAccessPeer, (int* can, CuDevice device, CuDevice peer))       \
  F(device_primary_context_retain, cuDevicePrimaryCtxRetain, (CuContext * context, CuDevice device)) \
  F(context_get_current, cuCtxGetCurrent, (CuContext * context))                                     \
  F(context_push, cuCtxPushCurrent_v2, (CuContext context))                                          \
  F(context_pop, cuCtxPopCurrent_v2, (CuContext * context))                                          \
  F(mem_get_info, cuMemGetInfo_v2, (size_t * free_bytes, size_t * total_bytes))                      \
  F(mem_alloc, cuMemAlloc_v2, (CuDevicePtr * address, size_t bytes))                                 \
  F(mem_free, cuMemFree_v2, (CuDevicePtr address))                                                   \
  F(event_create, cuEventCreate, (CuEvent * event, unsigned flags))                                  \
  F(event_record, cuEventRecord, (CuEvent event, CuStream stream))                                   \
  F(event_query, cuEventQuery, (CuEvent event))                                                      \
  F(event_synchronize, cuEventSynchronize, (CuEvent event))                                          \
  F(stream_synchronize, cuStreamSynchronize, (CuStream stream))                                      \
  F(stream_get_context, cuStreamGetCtx, (CuStream stream, CuContext * context))                      \
  F(stream_is_capturing, cuStreamIsCapturing, (CuStream stream, int* status))                        \
  F(thread_exchange_capture_mode, cuThreadExchangeStreamCaptureMode, (int* mode))

// Virtual memory management: CUDA 10.2 and later. Null in a driver without it.
#define GPUSTRATA_VIRTUAL_MEMORY_FUNCTIONS(F)                                                              \
  F(mem_address_reserve, cuMemAddressReserve,                                                              \
    (CuDevicePtr * address, size_t bytes, size_t alignment, CuDevicePtr wanted, unsigned long long flags)) \
  F(mem_address_free, cuMemAddressFree, (CuDevicePtr address, size_t bytes))                               \
  F(mem_create, cuMemCreate,                                                                               \
    (CuMemHandle * handle, size_t bytes, const CuMemAllocationProp* properties, unsigned long long flags)) \
  F(mem_release, cuMemRelease, (CuMemHandle handle))                                                       \
  F(mem_map, cuMemMap,                                                                                     \
    (CuDevicePtr address, size_t bytes, size_t offset, CuMemHandle handle, unsigned long long flags))      \
  F(mem_unmap, cuMemUnmap, (CuDevicePtr address, size_t bytes))                                            \
  F(mem_set_access, cuMemSetAccess,                                                                        \
    (CuDevicePtr address, size_t bytes, const CuMemAccessDesc* access, size_t count))                      \
  F(mem_get_allocation_granularity, cuMemGetAllocationGranularity,                                         \
    (size_t * bytes, const CuMemAllocationProp* properties, int option))

}  // namespace gpustrata::capture::cuda
