#include "engine/cli/input/descriptor.h"

#include <cerrno>
#include <mutex>
#include <set>
#include <utility>

namespace gpustrata::cli {

namespace {

std::mutex g_read_mutex;
std::set<std::pair<dev_t, ino_t>> g_read;  // regular files only: nothing else is ever replaced

void remember(int fd) {
  struct stat file {};
  if (fd < 0 || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return;
  const std::lock_guard lock(g_read_mutex);
  g_read.emplace(file.st_dev, file.st_ino);
}

}  // namespace

bool was_read(const struct stat& file) {
  const std::lock_guard lock(g_read_mutex);
  return g_read.count({file.st_dev, file.st_ino}) > 0;
}

Descriptor::Descriptor(const std::string& path)
    : fd_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  const int error = errno;
  remember(fd_);
  errno = error;
}

}  // namespace gpustrata::cli
