#include "capture/stacks/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace gpustrata::capture {

namespace {

// A file in memory, read only.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat about {};
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
      const auto size = static_cast<size_t>(about.st_size);
      void* const bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (bytes != MAP_FAILED) bytes_ = {static_cast<const char*>(bytes), size};
    }
    (void)::close(descriptor);
  }
  ~MappedFile() {
    if (!bytes_.empty()) (void)munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Empty if the range is not in the file.
  [[nodiscard]] std::span<const char> range(uint64_t offset, uint64_t length) const {
    if (offset > bytes_.size() || length > bytes_.size() - offset) return {};
    return bytes_.subspan(offset, length);
  }
  template <typename T>
  [[nodiscard]] bool read(uint64_t offset, T& value) const {
    const auto bytes = range(offset, sizeof(T));
    if (bytes.empty()) return false;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return true;
  }

 private:
  std::span<const char> bytes_;
};

[[nodiscard]] std::string_view text_at(std::span<const char> texts, uint64_t offset) {
  if (offset >= texts.size()) return {};
  const char* const text = texts.data() + offset;
  return {text, strnlen(text, texts.size() - offset)};
}

}  // namespace

void name_from_symbols(const std::string& path, std::span<const uint64_t> addresses,
                       std::vector<std::string>& names, const std::function<bool()>& expired) {
  const MappedFile file(path);
  Elf64_Ehdr header{};
  if (!file.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr))
    return;
  // Where two symbols hold an address the later start wins: it is the nearer one.
  std::vector<uint64_t> starts(addresses.size(), 0);
  std::vector<bool> mine(addresses.size());
  for (size_t i = 0; i < names.size(); ++i) mine[i] = names[i].empty();

  for (uint16_t section = 0; section < header.e_shnum; ++section) {
    Elf64_Shdr table{}, texts_header{};
    if (!file.read(header.e_shoff + section * sizeof(Elf64_Shdr), table)) return;
    if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
    if (!file.read(header.e_shoff + table.sh_link * sizeof(Elf64_Shdr), texts_header)) continue;
    const auto texts = file.range(texts_header.sh_offset, texts_header.sh_size);
    const auto symbols = file.range(table.sh_offset, table.sh_size);
    for (size_t at = 0, n = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym), ++n) {
      if (n % 65536 == 0 && expired()) return;
      Elf64_Sym symbol{};
      std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0)
        continue;
      const uint64_t end = symbol.st_value + symbol.st_size;
      auto i = static_cast<size_t>(std::lower_bound(addresses.begin(), addresses.end(), symbol.st_value) -
                                   addresses.begin());
      for (; i < addresses.size() && addresses[i] < end; ++i) {
        if (!mine[i] || (!names[i].empty() && starts[i] >= symbol.st_value)) continue;
        names[i] = text_at(texts, symbol.st_name);
        starts[i] = symbol.st_value;
      }
    }
  }
}

}  // namespace gpustrata::capture
