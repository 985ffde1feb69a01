#include "engine/cli/output/output_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "engine/cli/input/descriptor.h"
#include "engine/cli/input/progress.h"

namespace gpustrata::cli {

namespace {

[[nodiscard]] Status failed(const char* what, int error) {
  return fail(ErrorCode::io_error, -1, "{}: {}.", what, std::strerror(error));
}

// The unfinished file that has a name, for the handler of signals: a command has one output at a time.
std::array<char, PATH_MAX> g_unfinished{};
std::atomic<bool> g_is_unfinished = false;

extern "C" void take_away_and_die(int signal_number) {
  if (g_is_unfinished) unlink(g_unfinished.data());
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void remember_unfinished(const std::string& path) {
  if (path.size() >= g_unfinished.size()) return;
  std::memcpy(g_unfinished.data(), path.c_str(), path.size() + 1);
  g_is_unfinished = true;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    // Who started this program may have it ignore them (nohup).
    if (sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_DFL) signal(number, take_away_and_die);
  }
}

[[nodiscard]] std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}
[[nodiscard]] std::string name_of_file(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Where links of the last part lead, also if nothing is there. Error: io_error.
[[nodiscard]] Result<std::string> behind_links(std::string path) {
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks; ++i) {
    std::array<char, PATH_MAX> to{};
    const ssize_t length = readlink(path.c_str(), to.data(), to.size() - 1);
    if (length < 0) return path;  // no link, or open() says what is wrong
    path = to[0] == '/' ? std::string(to.data()) : folder_of(path) + "/" + to.data();
  }
  return tl::unexpected(failed("This file cannot be written", ELOOP).error());
}

// Beside the path and hidden, of a name that nobody else has: short where the name of the file is long.
[[nodiscard]] std::string random_name_beside(const std::string& path) {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<uint64_t>(getpid());
  const std::string end = fmt::format(".part-{:016x}", random);
  return folder_of(path) + "/." + name_of_file(path).substr(0, NAME_MAX - 1 - end.size()) + end;
}

constexpr int kTries = 16;  // of random names

}  // namespace

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!beside_.empty()) unlink(beside_.c_str());
  g_is_unfinished = false;
}

Status OutputFile::open(std::span<const std::string> inputs) {
  if (is_standard_output()) return {};
  auto target = behind_links(path_);
  if (!target) return tl::unexpected(target.error());
  path_ = std::move(*target);
  struct stat status {};
  const bool exists = stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode))
    return fail(ErrorCode::io_error, -1, "This is a folder. Name a file in it.");
  if (exists && !S_ISREG(status.st_mode)) {  // a pipe, /dev/null: nothing to replace
    is_direct_ = true;
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    return fd_ < 0 ? failed("This file cannot be written", errno) : Status();
  }
  bool is_input = exists && was_read(status);
  for (const std::string& input : inputs) {
    struct stat read {};
    const bool is_there = input == "-" ? fstat(STDIN_FILENO, &read) == 0 : stat(input.c_str(), &read) == 0;
    is_input |= exists && is_there && read.st_dev == status.st_dev && read.st_ino == status.st_ino;
  }
  if (is_input)
    return fail(ErrorCode::wrong_usage, -1, "This is the file that is read. Write to another one.");
  if (folders_ == Folders::made && !exists) {
    std::error_code error;  // one that somebody else makes at the same time is as good
    std::filesystem::create_directories(folder_of(path_), error);
    if (error) return failed("The folder of this file cannot be made", error.value());
  }
  return make(exists, exists ? status.st_mode & 0777 : 0);
}

Status OutputFile::make(bool exists, unsigned mode) {
  fd_ = ::open(folder_of(path_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  for (int i = 0; fd_ < 0 && i < kTries; ++i) {  // not every file system can
    const std::string name = random_name_beside(path_);
    fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ >= 0) {
      beside_ = name;
      remember_unfinished(beside_);
    } else if (errno != EEXIST) {
      break;
    }
  }
  if (fd_ < 0) return failed("This file cannot be written", errno);
  if (exists && fchmod(fd_, mode) != 0) return failed("This file cannot be written", errno);
  return {};
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  Status status = is_standard_output() ? console_.out.write(bytes) : DescriptorSink(fd_).write(bytes);
  if (!status) return status;
  bytes_ += static_cast<int64_t>(bytes.size());
  progress_.written(bytes_);
  return {};
}

// A file without a name gets one. Only rename() can replace another file, so then it is a name beside.
Status OutputFile::name_it() {
  const std::string nameless = fmt::format("/proc/self/fd/{}", fd_);
  std::string name = path_;
  for (int i = 0; i < kTries; ++i) {
    if (linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      if (i == 0) return {};
      beside_ = name;
      remember_unfinished(beside_);
      return {};
    }
    if (errno != EEXIST) break;
    name = random_name_beside(path_);
  }
  return failed("This file cannot be written", errno);
}

Status OutputFile::finish() {
  if (is_standard_output()) return {};
  if (!is_direct_ && beside_.empty()) {
    if (Status named = name_it(); !named) return named;
  }
  if (::close(std::exchange(fd_, -1)) != 0) return failed("Writing failed", errno);
  if (beside_.empty()) return {};
  if (std::rename(beside_.c_str(), path_.c_str()) != 0) return failed("This file cannot be written", errno);
  beside_.clear();
  g_is_unfinished = false;
  return {};
}

Outcome<int64_t> write_output(const std::string& path, std::span<const std::string> inputs,
                              const Console& console,
                              const std::function<Outcome<void>(io::ByteSink&)>& write, Folders folders) {
  Progress progress(console, path == "-" ? "standard output" : path, -1);
  OutputFile out(path, console, progress, folders);
  if (const Status opened = out.open(inputs); !opened) return failure(opened.error(), path);
  if (const Outcome<void> written = write(out); !written) return tl::unexpected(written.error());
  if (const Status finished = out.finish(); !finished) return failure(finished.error(), path);
  return out.bytes();
}

Outcome<int64_t> write_answer(const std::string& path, std::span<const std::string> inputs,
                              const Console& console, const std::function<void(answers::TextOut&)>& write,
                              Folders folders) {
  const auto write_all = [&](io::ByteSink& sink) -> Outcome<void> {
    answers::TextOut out(sink);
    write(out);
    const Status written = out.finish();
    return written ? Outcome<void>() : failure(written.error(), path);
  };
  return write_output(path, inputs, console, write_all, folders);
}

}  // namespace gpustrata::cli
