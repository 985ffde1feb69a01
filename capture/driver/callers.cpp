#include "capture/driver/callers.h"

namespace gpustrata::capture {

bool is_of_cuda(const std::string& file_name) {
  return file_name.starts_with("libcuda.so") || file_name.starts_with("libcudart.so") ||
         file_name.starts_with("libcudart-");
}

const Module* Callers::module(uint64_t address) {
  const Module* found = module_of(modules_, address);
  if (found == nullptr) {  // loaded since
    modules_ = loaded_modules();
    found = module_of(modules_, address);
  }
  return found;
}

std::string Callers::of(std::span<const uint64_t> addresses) {
  std::string name;
  for (const uint64_t address : addresses) {
    const Module* const found = module(address);
    if (found == nullptr) continue;
    name = found->name();
    if (!is_of_cuda(name)) return name;
  }
  return name;
}

}  // namespace gpustrata::capture
