// Return addresses to function names, files and lines; done at the dump only.
//
// Names come from the modules' symbol tables, lines and inlined calls from their DWARF by libdw where the
// machine has it (loaded at run time; debuginfod is never asked: only files of this machine are read, of the
// module itself or /usr/lib/debug). Modules are done in parallel; what is known is kept for the next dump.
// What has no name is "libname.so+0x1234". A module that was unloaded before the dump has no names any more.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace memstrata::capture {

struct NamedFrame {
  std::string name;      // demangled
  std::string filename;  // source file; "??" if unknown
  int32_t line = 0;      // 0 = unknown
};

class Symbols {
 public:
  // Innermost first: inlined calls, then the function that was really called. Never empty.
  using Frames = std::vector<NamedFrame>;

  // Names all `addresses` (return addresses; any order, repeats allowed). After `seconds` the rest stays
  // unnamed, is tried again next time, and stderr says so. From 2 s on stderr tells the progress. One caller
  // at a time; others wait.
  void resolve(std::span<const uint64_t> addresses, double seconds);
  // Of an address that was given to resolve(). Valid for ever.
  [[nodiscard]] const Frames& frames(uint64_t address) const;

 private:
  mutable std::mutex lock_;
  std::unordered_map<uint64_t, Frames> known_;
  std::unordered_map<uint64_t, Frames> unnamed_;  // for lack of time
};

}  // namespace memstrata::capture
