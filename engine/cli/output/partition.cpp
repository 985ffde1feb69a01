#include "engine/cli/output/partition.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
namespace gpustrata::cli {

namespace {

[[nodiscard]] std::string escaped(std::string_view name) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  std::string text;
  for (const char byte : name) {
    text += kPlain.find(byte) != std::string_view::npos
                ? std::string(1, byte)
                : fmt::format("%{:02X}", static_cast<unsigned char>(byte));
  }
  return text;
}

// One that is there already is as good: other processes write beside this one.
[[nodiscard]] Outcome<void> make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return {};
  return failure(kUnwritable, path, fmt::format("This folder cannot be made: {}.", std::strerror(errno)));
}

}  // namespace

Outcome<std::string> path_in(const std::string& folder, const Partition& partition, std::string_view file) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return failure(name_of(ErrorCode::wrong_usage), folder,
                   "--run and --rank name folders below the output, which has to be a folder that is there.");
  std::string path = folder;
  for (const std::string& one : {partition.run.empty() ? "" : "run=" + escaped(partition.run),
                                 partition.rank < 0 ? "" : fmt::format("rank={}", partition.rank)}) {
    if (one.empty()) continue;
    path += (path.ends_with('/') ? "" : "/") + one;
    if (const auto made = make_folder(path); !made) return tl::unexpected(made.error());
  }
  return fmt::format("{}/{}", path, file);
}

}  // namespace gpustrata::cli
