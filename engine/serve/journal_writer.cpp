#include "engine/serve/journal_writer.h"

#include <fmt/core.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace gpustrata::serve {

namespace {

// From /proc/PID/stat; none = it does not run (any more).
[[nodiscard]] std::optional<uint64_t> start_of(int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The name in parentheses may hold anything.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::vector<std::string> told;
  for (std::string field; fields >> field;) told.push_back(field);
  constexpr size_t kState = 0, kStarted = 19;  // fields 3 and 22
  if (told.size() <= kStarted || told[kState] == "Z" || told[kState] == "X") return std::nullopt;
  uint64_t ticks = 0;
  const std::string& text = told[kStarted];
  (void)std::from_chars(text.data(), text.data() + text.size(), ticks);
  return ticks;
}

// True also where it may not be looked at.
[[nodiscard]] bool may_have_mapped(int64_t process, uint64_t inode) {
  std::ifstream file(fmt::format("/proc/{}/maps", process));
  bool is_told = false;
  for (std::string line; std::getline(file, line);) {
    is_told = true;
    std::istringstream fields(line);
    std::string range, rights, offset, device;
    uint64_t mapped = 0;
    if (fields >> range >> rights >> offset >> device >> mapped && mapped == inode && rights.ends_with('s'))
      return true;
  }
  return !is_told;
}

}  // namespace

bool Writer::writes(int64_t process, uint64_t inode) {
  const auto started = start_of(process);
  if (!started) return false;
  if (started_ == started) return true;
  if (!may_have_mapped(process, inode)) return false;
  started_ = started;
  return true;
}

}  // namespace gpustrata::serve
