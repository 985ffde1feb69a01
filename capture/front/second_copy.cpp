#include "capture/front/second_copy.h"

#include <fmt/core.h>

#include <string>

#include "capture/front/report.h"
#include "capture/stacks/modules.h"

namespace gpustrata::capture {

void warn_of_second_copy() {
  const auto modules = loaded_modules();
  const Module* const own = module_of(modules, reinterpret_cast<uint64_t>(&warn_of_second_copy));
  if (own == nullptr) return;
  for (const Module& module : modules) {
    if (&module == own || module.name() != "libgpustrata_capture.so") continue;
    report(fmt::format("two copies are loaded, {} and {}: each has its own memory and its own history",
                       own->path, module.path));
  }
}

}  // namespace gpustrata::capture
