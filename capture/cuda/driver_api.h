// The CUDA driver, loaded at run time.
//
// One binary runs with and without a GPU. Only the driver is used, not the runtime: memory of the primary
// context is the runtime's memory, and a cudaStream_t is a CUstream. So it does not matter which runtime a
// program brings, nor whether it is linked statically.
#pragma once

#include <string>

#include "capture/cuda/driver_abi.h"
#include "engine/base/status.h"

namespace gpustrata::capture::cuda {

struct DriverApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name and parameters that are declared
#define GPUSTRATA_MEMBER(member, symbol, parameters) CuResult(*member) parameters = nullptr;
  GPUSTRATA_DRIVER_FUNCTIONS(GPUSTRATA_MEMBER)
  GPUSTRATA_VIRTUAL_MEMORY_FUNCTIONS(GPUSTRATA_MEMBER)
#undef GPUSTRATA_MEMBER
  bool has_virtual_memory = false;
  int version = 0;  // 13000 = CUDA 13.0: the newest the driver can serve
  int devices = 0;

  // "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
  [[nodiscard]] std::string text_of(CuResult error) const;
};

// Loads and initialises the driver; done once, the answer is kept. Safe from any thread. The error says what
// is missing: the library, an entry point, a device. Never unloaded.
[[nodiscard]] const Result<DriverApi>& driver();

// "CUDA driver 13.0, 2 devices", or the error's text.
[[nodiscard]] std::string driver_text();

}  // namespace gpustrata::capture::cuda
