#include "capture/driver/driver_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

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
  const std::filesystem::path meant = filled_pattern(pattern);
  std::filesystem::path stem = meant;
  if (stem.extension() == io::journal::kFileEnding || stem.extension() == ".pickle") stem.replace_extension();
  if (beside) stem += "-driver";
  std::error_code ignored;
  if (stem.has_parent_path()) (void)std::filesystem::create_directories(stem.parent_path(), ignored);
  auto taken = take_name(stem.string());
  if (taken) return taken;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(ignored);
  auto elsewhere = take_name((temporary / stem.filename()).string());
  return elsewhere ? elsewhere : taken;
}

}  // namespace gpustrata::capture
