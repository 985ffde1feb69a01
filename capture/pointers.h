// Addresses and streams are numbers in the engine and in what is read of an interpreter, pointers in CUDA and C.
#pragma once

#include <cstdint>

namespace gpustrata::capture {

[[nodiscard]] inline void* pointer_of(uint64_t address) {
  // Of no object that this program made. NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(address);
}
[[nodiscard]] inline void* stream_of(int64_t handle) { return pointer_of(static_cast<uint64_t>(handle)); }
[[nodiscard]] inline uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
[[nodiscard]] inline int64_t handle_of(const void* stream) { return reinterpret_cast<int64_t>(stream); }

}  // namespace gpustrata::capture
