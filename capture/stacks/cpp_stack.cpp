#include "capture/stacks/cpp_stack.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace gpustrata::capture {

namespace {

using Backtrace = int (*)(void** addresses, int capacity);

struct Libunwind {
  Backtrace backtrace = nullptr;  // null = not there
  std::string missing;            // why, if it was wanted
};

[[nodiscard]] const Libunwind& libunwind_library() {
  static const Libunwind& loaded = *new Libunwind([] {
    Libunwind found;
    const char* const wanted = std::getenv("GPUSTRATA_UNWINDER");
    if (wanted != nullptr && std::string_view(wanted) == "libgcc") return found;
    void* const library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) found.backtrace = reinterpret_cast<Backtrace>(dlsym(library, "unw_backtrace"));
    if (found.backtrace == nullptr) {
      const char* const reason = dlerror();
      found.missing = reason == nullptr ? "libunwind.so.8 has no unw_backtrace" : reason;
    }
    return found;
  }());
  return loaded;
}
[[nodiscard]] Backtrace libunwind() {
  static const Backtrace backtrace = libunwind_library().backtrace;
  return backtrace;
}

struct Walk {
  std::span<uint64_t> addresses;
  size_t count = 0;
};

_Unwind_Reason_Code keep_address(_Unwind_Context* context, void* argument) {
  Walk& walk = *static_cast<Walk*>(argument);
  if (walk.count == walk.addresses.size()) return _URC_END_OF_STACK;
  walk.addresses[walk.count++] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

}  // namespace

void prepare_cpp_stacks() {
  std::array<uint64_t, 64> addresses{};
  (void)gather_cpp_stack(addresses);
}

std::string why_cpp_stacks_are_slow() {
  const std::string& missing = libunwind_library().missing;
  if (missing.empty()) return {};
  return fmt::format(
      "C++ stacks are gathered by the compiler's unwinder, about 20 times slower than by libunwind: {}. Install it "
      "(Debian: libunwind8), or set GPUSTRATA_UNWINDER=libgcc if this is meant",
      missing);
}

std::string_view cpp_unwinder() { return libunwind() != nullptr ? "libunwind" : "libgcc"; }

[[gnu::noinline]] size_t gather_cpp_stack(std::span<uint64_t> addresses) {
  size_t count = 0;
  size_t own = 0;  // frames of this function
  if (const Backtrace backtrace = libunwind(); backtrace != nullptr) {
    static_assert(sizeof(void*) == sizeof(uint64_t));
    count = static_cast<size_t>(std::max(
        0, backtrace(reinterpret_cast<void**>(addresses.data()), static_cast<int>(addresses.size()))));
    own = 1;
  } else {
    Walk walk{addresses};
    (void)_Unwind_Backtrace(keep_address, &walk);
    count = walk.count;
    own = 1;
  }
  own = std::min(own, count);
  std::copy(addresses.begin() + static_cast<std::ptrdiff_t>(own),
            addresses.begin() + static_cast<std::ptrdiff_t>(count), addresses.begin());
  return count - own;
}

}  // namespace gpustrata::capture
