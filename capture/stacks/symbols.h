// Return addresses to function names, files and lines; done at the dump only.
//
// Names come from the modules' symbol tables, lines and inlined calls from their DWARF by libdw where the
// machine has it (loaded at run time; debuginfod is never asked: only files of this machine are read, of the
// module itself or /usr/lib/debug). Modules are done in parallel; what is known is kept for the next dump.
// What has no name is "libname.so+0x1234". A module that was unloaded before the dump has no names any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/stacks/modules.h"

namespace gpustrata::capture {

struct NamedFrame {
  std::string name;      // demangled
  std::string filename;  // source file; "??" if unknown
  int32_t line = 0;      // 0 = unknown
};

class Symbols {
 public:
  // Innermost first: inlined calls, then the function that was really called. Never empty.
  using Frames = std::vector<NamedFrame>;
  // Names addresses of one module's file, ascending: frames[i] is set where something is known of
  // addresses[i], names may be mangled or empty. Stops when `expired` says so. Called by several threads at
  // once, each with another module.
  using Source = void (*)(const Module& module, std::span<const uint64_t> addresses,
                          std::vector<Frames>& frames, const std::function<bool()>& expired);
  struct Patience {
    std::chrono::milliseconds progress{2000};  // between two lines on stderr
    // After the time is over, for sources to notice it. One that does not (a single call of libdw cannot be
    // interrupted) is left to its thread and its module asked no more until that thread is done.
    std::chrono::milliseconds grace{2000};
  };

  Symbols();
  Symbols(Source source, Patience patience);

  // Names all `addresses` (return addresses; any order, repeats allowed). After `seconds` the rest stays
  // unnamed, is tried again next time, and stderr says so; it returns `grace` later at the latest. One caller
  // at a time; others wait.
  void resolve(std::span<const uint64_t> addresses, double seconds);
  // Of an address that was given to resolve(). Valid for ever.
  [[nodiscard]] const Frames& frames(uint64_t address) const;

 private:
  struct Job;
  struct Crew;

  // The addresses by module, the ones with many first. What belongs to no module is named here.
  [[nodiscard]] std::vector<std::shared_ptr<Job>> jobs_for(const std::vector<uint64_t>& addresses);
  // Waits until all have returned, or for `grace` after the deadline; tells the progress.
  void wait_for(Crew& crew) const;
  // Takes over what a job that has returned found.
  void adopt(Job& job);

  Source source_;
  Patience patience_;
  mutable std::mutex lock_;
  std::unordered_map<uint64_t, Frames> known_;
  std::unordered_map<uint64_t, Frames> unnamed_;  // for lack of time
  std::vector<std::shared_ptr<Crew>> left_;       // whose threads had not all returned
};

// A Source: of the module's file, and of its debug file DEBUG_FOLDER/.build-id/xx/yyyy.debug where there is one.
void frames_from_files(const Module& module, const std::string& debug_folder,
                       std::span<const uint64_t> addresses, std::vector<Symbols::Frames>& frames,
                       const std::function<bool()>& expired);

}  // namespace gpustrata::capture
