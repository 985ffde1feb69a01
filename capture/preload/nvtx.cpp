// Ranges that the program names by NVTX, as regions.
//
// NVTX is headers alone: with its first call a program loads the library that NVTX_INJECTION64_PATH names and calls
// InitializeInjectionNvtx2, which puts its functions into the program's table. Ranges of the default domain that are pushed and
// popped are taken; others (started and ended anywhere, of domains of their own, in wide characters) are not.
#include <cstdint>

#include "capture/preload/recorder.h"
#include "capture/preload/watched.h"

using namespace gpustrata::preload;

namespace {

// As in nvtxTypes.h and nvToolsExt.h of version 3.
using ExportTable = const void* (*)(uint32_t id);
constexpr uint32_t kCallbacks = 1;  // NVTX_ETID_CALLBACKS
struct CallbackTable {
  size_t bytes;
  int (*of_module)(int module, void**** table, unsigned* count);
};
constexpr int kModuleCore = 1;
constexpr unsigned kRangePushEx = 8, kRangePushA = 9, kRangePop = 11;
struct Attributes {
  uint16_t version, bytes;
  uint32_t category;
  int32_t colour_type;
  uint32_t colour;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  const char* message;
};
constexpr int32_t kAscii = 1;

[[nodiscard]] int device() {
  const auto ask = reinterpret_cast<CuResult (*)(CuDevice*)>(of_driver("cuCtxGetDevice"));
  CuDevice current = 0;
  return ask != nullptr && ask(&current) == kSuccess && current >= 0 ? current : 0;
}

int push(const char* name) {
  const Recorder* const to = recorder();
  // A range that has no name that can be read is one all the same: its end will come.
  return to == nullptr ? -1 : to->region(name == nullptr ? "range" : name, device());
}
int push_attributes(const Attributes* attributes) {
  const bool is_text = attributes != nullptr && attributes->message_type == kAscii;
  return push(is_text ? attributes->message : nullptr);
}
int pop() {
  const Recorder* const to = loaded_recorder();
  return to == nullptr ? -1 : to->region(nullptr, device());
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(ExportTable tables) {
  const auto* const callbacks = static_cast<const CallbackTable*>(tables(kCallbacks));
  void*** table = nullptr;
  unsigned count = 0;
  if (callbacks == nullptr || callbacks->bytes < sizeof *callbacks ||
      callbacks->of_module(kModuleCore, &table, &count) == 0 || count <= kRangePop)
    return 0;
  *table[kRangePushEx] = reinterpret_cast<void*>(&push_attributes);
  *table[kRangePushA] = reinterpret_cast<void*>(&push);
  *table[kRangePop] = reinterpret_cast<void*>(&pop);
  return 1;
}
