// An open file, or standard input ("-"). What was opened so is remembered: no output may take its place.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace gpustrata::cli {

// Whether this process has read the file, by whatever name. From any thread.
[[nodiscard]] bool was_read(const struct stat& file);

// Closes what it opened; standard input stays open.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path);
  ~Descriptor() {
    if (fd_ > STDIN_FILENO) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }  // < 0: it could not be opened, errno says why

 private:
  int fd_;
};

}  // namespace gpustrata::cli
