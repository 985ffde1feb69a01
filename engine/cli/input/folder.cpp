#include "engine/cli/input/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/io/containers/members.h"
#include "engine/io/limits.h"

namespace gpustrata::cli {

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Files of the folder by name; at most one more than are read.
[[nodiscard]] std::vector<std::string> names_in(DIR* folder) {
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder)) {
    struct stat status {};
    if (entry->d_name[0] == '.' || fstatat(dirfd(folder), entry->d_name, &status, 0) != 0) continue;
    if (S_ISREG(status.st_mode)) names.emplace_back(entry->d_name);
    if (names.size() > static_cast<size_t>(io::kMaxMembersOfArchive)) break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

void read_member(int descriptor, io::Members& members, io::OpenedFile& file) {
  std::vector<std::byte> buffer(io::kPackedChunkBytes);
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return members.end(io::Members::End::damaged, std::strerror(errno));
    if (count == 0) return members.end(io::Members::End::complete);
    file.received += count;
    std::span<const std::byte> bytes(buffer.data(), static_cast<size_t>(count));
    members.current().feed(bytes);
    if (members.current().state() == io::Unpacking::State::too_much)
      return members.end(io::Members::End::too_much, "it unpacks to too much");
  }
}

}  // namespace

bool is_folder(const std::string& path) {
  struct stat status {};
  return path != "-" && stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Outcome<void> read_folder(const std::string& path, model::Recording& recording) {
  const std::unique_ptr<DIR, CloseFolder> folder(opendir(path.c_str()));
  if (!folder)
    return failure(kUnreadable, path, fmt::format("This folder cannot be opened: {}.", std::strerror(errno)));
  io::OpenedFile file{recording};
  io::Members members(file, "", 0);
  for (const std::string& name : names_in(folder.get())) {
    const int descriptor = openat(dirfd(folder.get()), name.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
      members.leave_out(name, -1, std::strerror(errno));
      continue;
    }
    const bool begun = members.begin(name, io::Packing::stored, -1);
    if (begun) read_member(descriptor, members, file);
    close(descriptor);
    if (!begun) break;
  }
  if (const Status any = members.conclude("folder"); !any) return failure(any.error(), path);
  recording.input_bytes = file.received;
  recording.format = members.format("folder");
  recording.seal();
  return {};
}

}  // namespace gpustrata::cli
