// The program and its shared libraries as they are loaded now.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpustrata::capture {

struct Module {
  std::string path;    // of the file; empty if it has none (the kernel's vdso)
  uint64_t base = 0;   // added to the file's addresses
  uint64_t begin = 0;  // addresses in memory
  uint64_t end = 0;
  std::string build_id;  // hexadecimal, empty if it has none

  [[nodiscard]] std::string name() const { return path.substr(path.find_last_of('/') + 1); }
};

// In address order.
[[nodiscard]] std::vector<Module> loaded_modules();
// The one around `address`, or null. O(log modules).
[[nodiscard]] const Module* module_of(const std::vector<Module>& modules, uint64_t address);

}  // namespace gpustrata::capture
