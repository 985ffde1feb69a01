// One line on standard error, by what is safe anywhere in a program that is not ours: a closed pipe ends it by no signal.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>

namespace gpustrata::preload {

inline void say(const char* line, size_t length) {
  const int error = errno;
  sigset_t pipe{}, pending{}, before{};
  (void)sigemptyset(&pipe);
  (void)sigaddset(&pipe, SIGPIPE);
  (void)sigpending(&pending);
  (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
  while (length > 0) {
    const ssize_t written = write(STDERR_FILENO, line, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    line += written;
    length -= static_cast<size_t>(written);
  }
  if (sigismember(&pending, SIGPIPE) == 0) {
    constexpr timespec kAtOnce{};
    (void)sigtimedwait(&pipe, nullptr, &kAtOnce);
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
}

}  // namespace gpustrata::preload
