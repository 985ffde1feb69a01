// Compares driver_abi.h, and the list of what is watched, with CUDA's own header. Compiled where CMake finds <cuda.h>; makes no code.
#define __CUDA_API_VERSION_INTERNAL  // NOLINT: it declares all versions of a function
#include <cuda.h>

#include <type_traits>

#include "capture/cuda/driver_abi.h"
#include "capture/preload/watched_list.h"

// NOLINTBEGIN(bugprone-sizeof-expression, bugprone-macro-parentheses): sizes of pointers, names of functions
namespace gpustrata::capture::cuda {
namespace {

static_assert(kSuccess == CUDA_SUCCESS && kInvalidValue == CUDA_ERROR_INVALID_VALUE);
static_assert(kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY && kNotInitialized == CUDA_ERROR_NOT_INITIALIZED);
static_assert(kDeinitialized == CUDA_ERROR_DEINITIALIZED && kStubLibrary == CUDA_ERROR_STUB_LIBRARY);
static_assert(kNoDevice == CUDA_ERROR_NO_DEVICE && kInvalidDevice == CUDA_ERROR_INVALID_DEVICE);
static_assert(kInvalidContext == CUDA_ERROR_INVALID_CONTEXT && kInvalidHandle == CUDA_ERROR_INVALID_HANDLE);
static_assert(kNotReady == CUDA_ERROR_NOT_READY);
static_assert(kIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS && kLaunchTimeout == CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(kContextIsDestroyed == CUDA_ERROR_CONTEXT_IS_DESTROYED && kAssert == CUDA_ERROR_ASSERT);
static_assert(kHardwareStackError == CUDA_ERROR_HARDWARE_STACK_ERROR);
static_assert(kLaunchFailed == CUDA_ERROR_LAUNCH_FAILED);
static_assert(kAttributeVirtualMemory == CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED);
static_assert(kAttributeRdmaOfVirtualMemory == CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
static_assert(kLocationDevice == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(kAllocationPinned == CU_MEM_ALLOCATION_TYPE_PINNED);
static_assert(kAccessReadWrite == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(kGranularityMinimum == CU_MEM_ALLOC_GRANULARITY_MINIMUM);
static_assert(kCaptureRelaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(kCapturedEvent == CUDA_ERROR_CAPTURED_EVENT && kCaptureNone == CU_STREAM_CAPTURE_STATUS_NONE);
static_assert(kEventDisableTiming == CU_EVENT_DISABLE_TIMING);

static_assert(sizeof(CuMemLocation) == 8 && offsetof(CUmemLocation, type) == offsetof(CuMemLocation, type));
static_assert(offsetof(CUmemLocation, id) == offsetof(CuMemLocation, id));
#define GPUSTRATA_SAME_PLACE(theirs, ours)                                                      \
  static_assert(offsetof(CUmemAllocationProp, theirs) == offsetof(CuMemAllocationProp, ours) && \
                sizeof(CUmemAllocationProp::theirs) == sizeof(CuMemAllocationProp::ours))
static_assert(sizeof(CUmemAllocationProp) == sizeof(CuMemAllocationProp));
GPUSTRATA_SAME_PLACE(type, type);
GPUSTRATA_SAME_PLACE(requestedHandleTypes, requested_handle_types);
GPUSTRATA_SAME_PLACE(location, location);
GPUSTRATA_SAME_PLACE(win32HandleMetaData, win32_handle_meta_data);
GPUSTRATA_SAME_PLACE(allocFlags, alloc_flags);
static_assert(offsetof(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable) ==
              offsetof(CuMemAllocationProp, alloc_flags.gpu_direct_rdma_capable));
static_assert(sizeof(CUmemAccessDesc) == sizeof(CuMemAccessDesc));
static_assert(offsetof(CUmemAccessDesc, flags) == offsetof(CuMemAccessDesc, flags));

// Two functions are called alike if their parameters agree in number, size and in being pointers or not.
template <typename Ours, typename Theirs>
struct CalledAlike;
template <typename... Ours, typename... Theirs>
struct CalledAlike<CuResult (*)(Ours...), CUresult (*)(Theirs...)> {
  static constexpr bool check() {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs)) {
      return false;
    } else {
      return ((sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
               (std::is_pointer_v<Ours> || std::is_unsigned_v<Ours> == std::is_unsigned_v<Theirs> ||
                std::is_enum_v<Theirs>)) &&
              ...);
    }
  }
};
#define GPUSTRATA_CALLED_ALIKE(member, symbol, parameters) \
  static_assert(CalledAlike<CuResult(*) parameters, decltype(&symbol)>::check(), #symbol);
GPUSTRATA_DRIVER_FUNCTIONS(GPUSTRATA_CALLED_ALIKE)
GPUSTRATA_VIRTUAL_MEMORY_FUNCTIONS(GPUSTRATA_CALLED_ALIKE)
using preload::CuMemPool;
#define GPUSTRATA_WATCHED_ALIKE(symbol, name, since, per_thread, parameters) \
  GPUSTRATA_CALLED_ALIKE(symbol, symbol, parameters)
GPUSTRATA_WATCHED(GPUSTRATA_WATCHED_ALIKE)

}  // namespace
}  // namespace gpustrata::capture::cuda
// NOLINTEND(bugprone-sizeof-expression, bugprone-macro-parentheses)
