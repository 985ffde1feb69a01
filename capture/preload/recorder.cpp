#include "capture/preload/recorder.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "capture/preload/say.h"
#include "capture/preload/watched.h"

namespace gpustrata::preload {

namespace {

enum class Loading : int { not_begun, under_way, done, off };
std::atomic<Loading> g_loading{Loading::not_begun};
Recorder g_recorder{};

// Of `gpustrata run` (_run/driver.py). Without the first one nothing is recorded.
constexpr const char* kOutput = "GPUSTRATA_DRIVER";
constexpr const char* kStacks = "GPUSTRATA_DRIVER_STACKS";     // "native", "none"
constexpr const char* kMaxSize = "GPUSTRATA_DRIVER_MAX_SIZE";  // bytes
constexpr const char* kInPythons = "GPUSTRATA_DRIVER_PYTHON";  // "1": also beside PyTorch's allocator
constexpr const char* kFirst = "GPUSTRATA_RUN_FIRST";          // id of the run's first process
constexpr int kMostWaits = 2000;                               // of a millisecond

[[nodiscard]] bool is_on(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && std::strcmp(value, "1") == 0;
}
[[nodiscard]] bool is_wanted() {
  const char* const output = std::getenv(kOutput);
  return output != nullptr && *output != 0;
}
[[nodiscard]] bool is_python() { return plain_dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr; }

void say_not_recorded(const char* why) {
  char line[1024];
  const int length = std::snprintf(line, sizeof line, "gpustrata: the driver is not recorded: %s\n", why);
  if (length > 0)
    say(line, static_cast<size_t>(length) < sizeof line ? static_cast<size_t>(length) : sizeof line - 1);
}

template <typename Function>
[[nodiscard]] bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(plain_dlsym(library, name));
  return function != nullptr;
}

// Beside this library.
[[nodiscard]] void* load_library() {
  const char* const named = std::getenv("GPUSTRATA_CAPTURE");
  if (named != nullptr && *named != 0) return dlopen(named, RTLD_NOW | RTLD_LOCAL);
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&load_library), &own) == 0 || own.dli_fname == nullptr)
    return nullptr;
  char path[4096];
  const char* const slash = std::strrchr(own.dli_fname, '/');
  const int folder = slash == nullptr ? 0 : static_cast<int>(slash - own.dli_fname + 1);
  const int length = std::snprintf(path, sizeof path, "%.*slibgpustrata_capture.so", folder, own.dli_fname);
  return length > 0 && static_cast<size_t>(length) < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
                                                                 : nullptr;
}

[[nodiscard]] bool load() {
  const bool python = is_python();
  if (!is_wanted() || (python && !is_on(kInPythons))) return false;
  void* const library = load_library();
  if (library == nullptr) {
    const char* const reason = dlerror();
    say_not_recorded(reason == nullptr ? "its library is not beside this one" : reason);
    return false;
  }
  Recorder& r = g_recorder;
  if (!find(library, "gpustrata_driver_begin", r.begin) ||
      !find(library, "gpustrata_driver_allocated", r.allocated) ||
      !find(library, "gpustrata_driver_freeing", r.freeing) ||
      !find(library, "gpustrata_driver_kept", r.kept) ||
      !find(library, "gpustrata_driver_refused", r.refused) ||
      !find(library, "gpustrata_driver_ending", r.ending) ||
      !find(library, "gpustrata_driver_not_ended", r.not_ended) ||
      !find(library, "gpustrata_driver_created", r.created) ||
      !find(library, "gpustrata_driver_releasing", r.releasing) ||
      !find(library, "gpustrata_driver_mapped", r.mapped) ||
      !find(library, "gpustrata_driver_unmapped", r.unmapped) ||
      !find(library, "gpustrata_driver_found", r.found) ||
      !find(library, "gpustrata_driver_region", r.region) || !find(library, "gpustrata_driver_end", r.end)) {
    say_not_recorded("libgpustrata_capture.so is of another version");
    return false;
  }
  gpustrata_driver_options options{};
  options.output = std::getenv(kOutput);
  const char* const size = std::getenv(kMaxSize);
  options.max_size = size == nullptr ? 0 : std::strtoll(size, nullptr, 10);
  const char* const stacks = std::getenv(kStacks);
  options.native_stacks = stacks == nullptr || std::strcmp(stacks, "none") != 0 ? 1 : 0;
  options.is_beside = python ? 1 : 0;
  options.preloaded = reinterpret_cast<const void*>(&load_library);
  return r.begin(&options) == 0;
}

// A child by fork has the recorder of its parent, which does nothing there; a thread that was loading is not in it.
void in_child() {
  if (g_loading.load() == Loading::under_way) g_loading.store(Loading::off);
}

[[gnu::constructor]] void begin() { (void)pthread_atfork(nullptr, nullptr, in_child); }

// After the program's own handlers of its end.
[[gnu::destructor]] void end() {
  const Loading loading = g_loading.load(std::memory_order_acquire);
  if (loading == Loading::done && g_recorder.end() != 0) return;
  const char* const first = std::getenv(kFirst);
  if (loading == Loading::off || !is_wanted() || first == nullptr ||
      std::strtoll(first, nullptr, 10) != getpid() || is_python())
    return;
  constexpr char kLine[] =
      "gpustrata: nothing was recorded in this process: it asked the CUDA driver for no memory\n";
  say(kLine, sizeof kLine - 1);
}

}  // namespace

const Recorder* loaded_recorder() {
  return g_loading.load(std::memory_order_acquire) == Loading::done ? &g_recorder : nullptr;
}

const Recorder* recorder() {
  Loading loading = g_loading.load(std::memory_order_acquire);
  if (loading == Loading::not_begun &&
      g_loading.compare_exchange_strong(loading, Loading::under_way, std::memory_order_acq_rel)) {
    loading = load() ? Loading::done : Loading::off;
    g_loading.store(loading, std::memory_order_release);
  }
  for (int i = 0; i < kMostWaits && g_loading.load(std::memory_order_acquire) == Loading::under_way; ++i)
    (void)usleep(1000);
  return loaded_recorder();
}

}  // namespace gpustrata::preload
