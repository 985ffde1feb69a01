#include "capture/stacks/modules.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "capture/pointers.h"

namespace gpustrata::capture {

namespace {

[[nodiscard]] std::string program_path() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<size_t>(length)) : std::string();
}

// From the notes of a loaded segment.
[[nodiscard]] std::string build_id_in(const char* notes, size_t bytes) {
  size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= bytes) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const size_t name = at + sizeof note;
    const size_t content = name + (note.n_namesz + 3U) / 4 * 4;
    if (content + note.n_descsz > bytes) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0) {
      constexpr const char* kDigits = "0123456789abcdef";
      std::string text;
      for (size_t i = 0; i < note.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(notes[content + i]);
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
      }
      return text;
    }
    at = content + (note.n_descsz + 3U) / 4 * 4;
  }
  return {};
}

int add_module(dl_phdr_info* info, size_t, void* argument) {
  auto& modules = *static_cast<std::vector<Module>*>(argument);
  Module module;
  module.base = info->dlpi_addr;
  module.begin = UINT64_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const uint64_t start = module.base + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      module.begin = std::min(module.begin, start);
      module.end = std::max(module.end, start + header.p_memsz);
    } else if (header.p_type == PT_NOTE && module.build_id.empty()) {
      module.build_id = build_id_in(static_cast<const char*>(pointer_of(start)), header.p_memsz);
    }
  }
  if (module.begin >= module.end) return 0;
  if (info->dlpi_name != nullptr && *info->dlpi_name != 0) {
    module.path = info->dlpi_name;
  } else if (modules.empty()) {
    module.path = program_path();  // the program comes first and has no name
  }
  modules.push_back(std::move(module));
  return 0;
}

}  // namespace

std::vector<Module> loaded_modules() {
  std::vector<Module> modules;
  (void)dl_iterate_phdr(add_module, &modules);
  std::sort(modules.begin(), modules.end(),
            [](const Module& a, const Module& b) { return a.begin < b.begin; });
  return modules;
}

const Module* module_of(const std::vector<Module>& modules, uint64_t address) {
  const auto after = std::upper_bound(modules.begin(), modules.end(), address,
                                      [](uint64_t a, const Module& module) { return a < module.begin; });
  if (after == modules.begin()) return nullptr;
  const Module& module = *(after - 1);
  return address < module.end ? &module : nullptr;
}

}  // namespace gpustrata::capture
