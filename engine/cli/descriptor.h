// An open file, or standard input ("-").
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace gpustrata::cli {

// Closes what it opened; standard input stays open.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : fd_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
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
