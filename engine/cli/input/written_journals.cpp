#include "engine/cli/input/written_journals.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

#include "engine/io/journal/format.h"

namespace gpustrata::cli {

namespace {

namespace fs = std::filesystem;

[[nodiscard]] bool is_journal(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;  // never a device, which is mapped as well
  std::array<char, io::journal::kMagic.size()> beginning{};
  std::ifstream file(path, std::ios::binary);
  return file.read(beginning.data(), beginning.size()) &&
         std::string_view(beginning.data(), beginning.size()) == io::journal::kMagic;
}

void add_mapped(const std::string& process, std::set<std::string>& journals) {
  std::ifstream file(fmt::format("/proc/{}/maps", process));
  std::set<std::string> looked;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string range, rights, offset, device, inode, path;
    if (!(fields >> range >> rights >> offset >> device >> inode) || rights != "rw-s") continue;
    std::getline(fields >> std::ws, path);
    if (path.starts_with('/') && looked.insert(path).second && is_journal(path)) journals.insert(path);
  }
}

// Those that the process began, of all its threads.
[[nodiscard]] std::vector<std::string> children_of(const std::string& process) {
  std::vector<std::string> children;
  std::error_code error;
  for (fs::directory_iterator thread(fmt::format("/proc/{}/task", process), error);
       !error && thread != fs::directory_iterator(); thread.increment(error)) {
    std::ifstream file(thread->path() / "children");
    for (std::string child; file >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

bool is_process(std::string_view text) {
  constexpr size_t kLongest = 10;
  return !text.empty() && text.size() <= kLongest &&
         std::all_of(text.begin(), text.end(), [](char digit) { return digit >= '0' && digit <= '9'; });
}

Result<std::vector<std::string>> journals_written_by(const std::string& process) {
  std::error_code error;
  if (!fs::exists("/proc/" + process, error))
    return fail(ErrorCode::wrong_usage, -1, "There is no process {}.", process);
  std::set<std::string> journals;
  std::set<std::string> known{process};
  for (std::vector<std::string> generation{process}; journals.empty() && !generation.empty();) {
    std::vector<std::string> next;
    for (const std::string& one : generation) {
      add_mapped(one, journals);
      for (std::string& child : children_of(one))
        if (known.insert(child).second) next.push_back(std::move(child));
    }
    generation = std::move(next);
  }
  if (journals.empty())
    return fail(
        ErrorCode::wrong_usage, -1,
        "Process {} writes no journal, nor does one that it began, as far as this user may see. Start "
        "it with gpustrata run -o run-{{rank}}.gpustrata.",
        process);
  return std::vector<std::string>(journals.begin(), journals.end());
}

}  // namespace gpustrata::cli
