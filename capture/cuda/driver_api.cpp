#include "capture/cuda/driver_api.h"

#include <dlfcn.h>

namespace gpustrata::capture::cuda {

namespace {

constexpr const char* kLibrary = "libcuda.so.1";

template <typename Function>
[[nodiscard]] bool find(void* library, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  return function != nullptr;
}

[[nodiscard]] Result<DriverApi> load() {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return fail(ErrorCode::device_error, -1,
                "no CUDA driver: {}. Install the NVIDIA driver, or run where there is a GPU.",
                reason == nullptr ? "cannot load libcuda.so.1" : reason);
  }
  DriverApi api;
  const char* missing = nullptr;
#define GPUSTRATA_FIND(member, symbol, parameters) \
  if (!find(library, #symbol, api.member)) missing = #symbol;
  GPUSTRATA_DRIVER_FUNCTIONS(GPUSTRATA_FIND)
  if (missing != nullptr) {
    return fail(ErrorCode::unsupported, -1,
                "the CUDA driver is too old: {} has no {} (CUDA 10.1 or newer is needed)", kLibrary, missing);
  }
  GPUSTRATA_VIRTUAL_MEMORY_FUNCTIONS(GPUSTRATA_FIND)
#undef GPUSTRATA_FIND
  api.has_virtual_memory = missing == nullptr;

  const auto refused = [&](const char* call, CuResult error) {
    return fail(ErrorCode::device_error, -1, "the CUDA driver does not start: {} says {}", call,
                api.text_of(error));
  };
  if (const CuResult error = api.init(0); error != kSuccess) return refused("cuInit", error);
  if (const CuResult error = api.driver_get_version(&api.version); error != kSuccess)
    return refused("cuDriverGetVersion", error);
  if (const CuResult error = api.device_get_count(&api.devices); error != kSuccess)
    return refused("cuDeviceGetCount", error);
  if (api.devices == 0)
    return fail(ErrorCode::device_error, -1,
                "the CUDA driver sees no device (is CUDA_VISIBLE_DEVICES empty?)");
  return api;
}

}  // namespace

std::string DriverApi::text_of(CuResult error) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (get_error_name(error, &name) != kSuccess || name == nullptr) name = "CUDA error";
  if (get_error_string(error, &text) != kSuccess || text == nullptr) text = "unknown";
  return fmt::format("{} ({}): {}", name, error, text);
}

const Result<DriverApi>& driver() {
  // Kept for ever: other threads may still free memory while the process ends.
  static const Result<DriverApi>& loaded = *new Result<DriverApi>(load());
  return loaded;
}

std::string driver_text() {
  const Result<DriverApi>& loaded = driver();
  if (!loaded) return loaded.error().message;
  return fmt::format("CUDA driver {}.{}, {} device{}", loaded->version / 1000, loaded->version % 1000 / 10,
                     loaded->devices, loaded->devices == 1 ? "" : "s");
}

}  // namespace gpustrata::capture::cuda
