// Who asked: the library, or the program, that stands behind CUDA's own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/stacks/modules.h"

namespace gpustrata::capture {

// For one thread at a time.
class Callers {
 public:
  // The file name of the first of `addresses`, innermost first, outside of CUDA's driver and runtime; if all are inside, that of the
  // outermost. "" if no file holds it.
  [[nodiscard]] std::string of(std::span<const uint64_t> addresses);

 private:
  [[nodiscard]] const Module* module(uint64_t address);
  std::vector<Module> modules_;
};

// libcuda.so.1, libcudart.so.12, libcudart-d0da41ae.so.11.0. A runtime that is linked statically is part of its program.
[[nodiscard]] bool is_of_cuda(const std::string& file_name);

}  // namespace gpustrata::capture
