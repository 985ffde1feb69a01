#include "capture/driver/driver_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "engine/io/journal/format.h"

namespace gpustrata::capture {

namespace {

constexpr int kMostNumbers = 100'000;

[[nodiscard]] std::string host_name() {
  std::array<char, 256> name{};
  (void)gethostname(name.data(), name.size() - 1);
  std::string host(name.data());
  host = host.substr(0, host.find('.'));
  for (char& c : host) {
    if (c == '/') c = '_';
  }
  return host.empty() ? "localhost" : host;
}

[[nodiscard]] std::string rank_of_launcher() {
  for (const char* const name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != 0 && std::strspn(value, "0123456789") == std::strlen(value))
      return value;
  }
  return "0";
}

[[nodiscard]] std::string filled_pattern(std::string pattern) {
  const std::array<std::array<std::string, 2>, 4> fields{{{"{host}", host_name()},
                                                          {"{rank}", rank_of_launcher()},
                                                          {"{device}", "cuda"},
                                                          {"{pid}", std::to_string(getpid())}}};
  for (const auto& [field, value] : fields) {
    for (size_t at = 0; (at = pattern.find(field, at)) != std::string::npos; at += value.size())
      pattern.replace(at, field.size(), value);
  }
  return pattern;
}

// By hand, since std::filesystem wants a libstdc++ that is newer than that of RHEL 8.
void make_folders_of(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    (void)mkdir(path.substr(0, slash).c_str(), 0777);
}

[[nodiscard]] std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

[[nodiscard]] std::string without_ending(const std::string& path) {
  const std::string name = name_in(path);
  for (const std::string_view ending : {io::journal::kFileEnding, std::string_view(".pickle")}) {
    if (name.size() > ending.size() && name.ends_with(ending))
      return path.substr(0, path.size() - ending.size());
  }
  return path;
}

[[nodiscard]] std::string folder_for_what_passes() {
  for (const char* const name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != 0) return value;
  }
  return "/tmp";
}

// Without its suffix.
[[nodiscard]] Result<std::string> take_name(const std::string& stem) {
  for (int number = 1; number < kMostNumbers; ++number) {
    const std::string name = number == 1 ? fmt::format("{}{}", stem, io::journal::kFileEnding)
                                         : fmt::format("{}-{}{}", stem, number, io::journal::kFileEnding);
    const int file = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (file >= 0) {
      (void)close(file);
      return name;
    }
    if (errno != EEXIST) return fail(ErrorCode::io_error, -1, "{}: {}", name, std::strerror(errno));
  }
  return fail(ErrorCode::io_error, -1, "{}{}: there are {} of this name", stem, io::journal::kFileEnding,
              kMostNumbers);
}

}  // namespace

Result<std::string> place_driver_file(const std::string& pattern, bool beside) {
  const std::string stem = without_ending(filled_pattern(pattern)) + (beside ? "-driver" : "");
  make_folders_of(stem);
  auto taken = take_name(stem);
  if (taken) return taken;
  auto elsewhere = take_name(folder_for_what_passes() + '/' + name_in(stem));
  return elsewhere ? elsewhere : taken;
}

}  // namespace gpustrata::capture
