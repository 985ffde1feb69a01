#include "capture/stacks/dwarf_lines.h"

#if __has_include(<elfutils/libdw.h>)
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace gpustrata::capture {

namespace {

// clang-format off
#define GPUSTRATA_DW_FUNCTIONS(F) \
  F(dwarf_begin) \
  F(dwarf_end) \
  F(dwarf_get_units) \
  F(dwarf_ranges) \
  F(dwarf_getscopes) \
  F(dwarf_getscopes_die) \
  F(dwarf_tag) \
  F(dwarf_attr) \
  F(dwarf_attr_integrate) \
  F(dwarf_formstring) \
  F(dwarf_formudata) \
  F(dwarf_getsrc_die) \
  F(dwarf_linesrc) \
  F(dwarf_lineno) \
  F(dwarf_getsrcfiles) \
  F(dwarf_filesrc)
// clang-format on

struct DwApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name that is declared
#define GPUSTRATA_DW_MEMBER(name) decltype(&::name) name = nullptr;
  GPUSTRATA_DW_FUNCTIONS(GPUSTRATA_DW_MEMBER)
#undef GPUSTRATA_DW_MEMBER
  bool usable = false;
};

[[nodiscard]] const DwApi& api() {
  static const DwApi loaded = [] {
    DwApi found;
    void* const library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return found;
    found.usable = true;
#define GPUSTRATA_DW_FIND(name)                                            \
  found.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  found.usable = found.usable && found.name != nullptr;
    GPUSTRATA_DW_FUNCTIONS(GPUSTRATA_DW_FIND)
#undef GPUSTRATA_DW_FIND
    return found;
  }();
  return loaded;
}

[[nodiscard]] std::string function_name(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (api().dwarf_attr_integrate(&die, name, &attribute) == nullptr) continue;
    if (const char* text = api().dwarf_formstring(&attribute); text != nullptr) return text;
  }
  if (api().dwarf_attr_integrate(&die, DW_AT_name, &attribute) != nullptr) {
    if (const char* text = api().dwarf_formstring(&attribute); text != nullptr) return text;
  }
  return {};
}

[[nodiscard]] uint64_t number(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (api().dwarf_attr(&die, name, &attribute) == nullptr || api().dwarf_formudata(&attribute, &value) != 0)
    return 0;
  return value;
}

// Frames of one address within its unit.
[[nodiscard]] Symbols::Frames frames_in(Dwarf_Die& unit, uint64_t address) {
  Symbols::Frames frames;
  std::string file = "??";
  int line = 0;
  if (Dwarf_Line* const source = api().dwarf_getsrc_die(&unit, address); source != nullptr) {
    if (const char* name = api().dwarf_linesrc(source, nullptr, nullptr); name != nullptr) file = name;
    (void)api().dwarf_lineno(source, &line);
  }
  Dwarf_Die* around = nullptr;
  if (api().dwarf_getscopes(&unit, address, &around) <= 0) return frames;
  // The first is the innermost scope; its parents in the tree are the calls it was inlined into.
  Dwarf_Die* scopes = nullptr;
  const int count = api().dwarf_getscopes_die(&around[0], &scopes);
  std::free(around);
  Dwarf_Files* files = nullptr;
  size_t file_count = 0;
  (void)api().dwarf_getsrcfiles(&unit, &files, &file_count);
  for (int i = 0; i < count; ++i) {
    const int tag = api().dwarf_tag(&scopes[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    frames.push_back({function_name(scopes[i]), file, line});
    if (tag == DW_TAG_subprogram) break;
    // The next frame stands where this one was inlined.
    const uint64_t file_number = number(scopes[i], DW_AT_call_file);
    const char* const name =
        file_number < file_count ? api().dwarf_filesrc(files, file_number, nullptr, nullptr) : nullptr;
    file = name == nullptr ? "??" : name;
    line = static_cast<int>(number(scopes[i], DW_AT_call_line));
  }
  std::free(scopes);
  return frames;
}

}  // namespace

bool has_dwarf() { return api().usable; }

bool frames_from_dwarf(const std::string& path, std::span<const uint64_t> addresses,
                       std::vector<Symbols::Frames>& frames, const std::function<bool()>& expired) {
  if (!has_dwarf()) return false;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  Dwarf* const dwarf = api().dwarf_begin(descriptor, DWARF_C_READ);
  if (dwarf == nullptr) {
    (void)::close(descriptor);
    return false;
  }
  // Units are asked for their ranges rather than .debug_aranges, which clang does not write.
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  uint8_t type = 0;
  bool any = false;
  while (!expired() && api().dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &die, nullptr) == 0) {
    any = true;
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (std::ptrdiff_t at = 0; (at = api().dwarf_ranges(&die, at, &base, &begin, &end)) > 0;) {
      auto i = static_cast<size_t>(std::lower_bound(addresses.begin(), addresses.end(), begin) -
                                   addresses.begin());
      for (; i < addresses.size() && addresses[i] < end && !expired(); ++i) {
        if (frames[i].empty()) frames[i] = frames_in(die, addresses[i]);
      }
    }
  }
  (void)api().dwarf_end(dwarf);
  (void)::close(descriptor);
  return any;
}

}  // namespace gpustrata::capture

#else

namespace gpustrata::capture {

bool has_dwarf() { return false; }
bool frames_from_dwarf(const std::string&, std::span<const uint64_t>, std::vector<Symbols::Frames>&,
                       const std::function<bool()>&) {
  return false;
}

}  // namespace gpustrata::capture

#endif
