#include "engine/serve/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/io/journal/format.h"
#include "engine/serve/journal_writer.h"

namespace gpustrata::serve {

namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 8;              // folders in a folder
constexpr size_t kMostLooked = 200'000;  // entries of folders, snapshots or not
constexpr size_t kLongestName = 4096;

// Names that files with snapshots have, as the page picks them from a folder.
[[nodiscard]] bool may_be_snapshot(std::string_view name) {
  constexpr std::array<std::string_view, 10> kEndings = {
      ".pickle", ".pkl", ".json", ".html",     ".htm",
      ".gz",     ".zst", ".zip",  ".snapshot", io::journal::kFileEnding};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [name](std::string_view ending) { return name.ends_with(ending); });
}

[[nodiscard]] std::string real_path(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  return realpath(path.c_str(), real.data()) == nullptr ? std::string() : std::string(real.data());
}

[[nodiscard]] int64_t microseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000;
}

[[nodiscard]] int64_t nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

[[nodiscard]] Stamp stamp_of(const struct stat& status) {
  return {uint64_t{status.st_dev}, uint64_t{status.st_ino}, int64_t{status.st_size},
          nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)};
}

[[nodiscard]] tl::unexpected<Error> not_there(std::string_view name, const char* why) {
  return fail(ErrorCode::wrong_usage, -1, "{} cannot be opened: {}.", name.substr(0, 200), why);
}

[[nodiscard]] std::string path_of(int descriptor) {
  std::array<char, PATH_MAX> path{};
  const ssize_t length =
      readlink(fmt::format("/proc/self/fd/{}", descriptor).c_str(), path.data(), path.size());
  return length <= 0 ? std::string() : std::string(path.data(), static_cast<size_t>(length));
}

// Nothing is opened for reading before it is known to be a file at a place that may be read.
template <typename IsAllowed>
[[nodiscard]] Result<FoundFile> open_checked(const std::string& path, std::string_view name,
                                             const IsAllowed& is_allowed) {
  const OpenFile place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (place.get() < 0)
    return not_there(name, errno == ENOENT ? "there is no such file" : std::strerror(errno));
  if (!is_allowed(path_of(place.get()))) return not_there(name, "it lies outside of what is served");
  struct stat status {};
  if (fstat(place.get(), &status) != 0 || !S_ISREG(status.st_mode)) return not_there(name, "it is no file");
  OpenFile file(::open(fmt::format("/proc/self/fd/{}", place.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return not_there(name, std::strerror(errno));
  Stamp stamp = stamp_of(status);
  stamp.journal = journal_head(file.get());
  return FoundFile{std::move(file), int64_t{status.st_size}, microseconds(status.st_mtim), stamp};
}

[[nodiscard]] ListedFile listed(std::string_view name, const struct stat& status) {
  ListedFile file;
  file.shown.name = shown_name(name);
  file.shown.bytes = int64_t{status.st_size};
  file.shown.modified_us = microseconds(status.st_mtim);
  file.stamp = stamp_of(status);
  return file;
}

}  // namespace

std::string shown_name(std::string_view name) {
  std::string shown;
  for (size_t at = 0; at < name.size();) {
    const utf8::Sequence sequence = utf8::sequence_at(name, at);
    for (const char byte : name.substr(at, sequence.length))
      shown +=
          sequence.valid ? std::string(1, byte) : fmt::format("\\x{:02X}", static_cast<unsigned char>(byte));
    at += sequence.length;
  }
  return shown;
}

std::string bytes_of_shown(std::string_view shown) {
  constexpr std::string_view kMark = "\\x";
  constexpr size_t kLength = 4;
  constexpr unsigned kFirst = 0x80;  // whatever is below is UTF-8, and may not be smuggled in
  std::string bytes;
  for (size_t at = 0; at < shown.size();) {
    unsigned byte = 0;
    const std::string_view digits = shown.substr(at).substr(0, kLength);
    if (digits.size() == kLength && digits.starts_with(kMark) &&
        std::from_chars(digits.data() + kMark.size(), digits.data() + kLength, byte, 16).ptr ==
            digits.data() + kLength &&
        byte >= kFirst) {
      bytes += static_cast<char>(byte);
      at += kLength;
    } else {
      bytes += shown[at++];
    }
  }
  return bytes;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) close(descriptor_);
}
OpenFile::OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Result<Files> Files::of(const std::vector<std::string>& paths) {
  Files files;
  std::set<std::string> taken;
  for (const std::string& path : paths) {
    struct stat status {};
    Root root;
    root.path = real_path(path);
    if (root.path.empty() || stat(root.path.c_str(), &status) != 0)
      return fail(ErrorCode::wrong_usage, -1, "{} cannot be served: {}", path, std::strerror(errno));
    root.is_folder = S_ISDIR(status.st_mode);
    if (!root.is_folder && !S_ISREG(status.st_mode))
      return fail(ErrorCode::wrong_usage, -1, "{} cannot be served: it is neither a file nor a folder", path);
    const std::string name = root.path.substr(root.path.rfind('/') + 1);
    root.name = name;
    for (int number = 2; !taken.insert(root.name).second; ++number)
      root.name = fmt::format("{} ({})", name, number);
    files.roots_.push_back(std::move(root));
  }
  // The names in the only folder need nothing in front of them.
  if (files.roots_.size() == 1 && files.roots_[0].is_folder) {
    files.roots_[0].name.clear();
  } else {
    for (Root& root : files.roots_)
      if (root.is_folder) root.name += '/';
  }
  return files;
}

Result<FoundFile> Files::open_below(const Root& folder, std::string_view name) const {
  if (name.empty() || name.size() > kLongestName || name.find('\0') != std::string_view::npos)
    return not_there("This name", "it is empty, too long or holds a zero");
  if (name[0] == '/') return not_there(name, "only names below the folder that is served are taken");
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('/', at), name.size());
    if (name.substr(at, end - at) == "..")
      return not_there(name, "it leads out of the folder that is served");
    at = end + 1;
  }
  const std::string inside = folder.path == "/" ? "/" : folder.path + "/";
  return open_checked(inside + std::string(name), name,
                      [&](const std::string& real) { return real.starts_with(inside); });
}

Result<FoundFile> Files::open(std::string_view name) const {
  auto found = open_exact(name);
  if (found) return found;
  const std::string meant = bytes_of_shown(name);
  if (meant == name) return found;
  auto other = open_exact(meant);
  return other ? std::move(other) : std::move(found);
}

Result<FoundFile> Files::open_exact(std::string_view name) const {
  for (const Root& root : roots_) {
    if (!root.is_folder && root.name == name)
      return open_checked(root.path, name, [&](const std::string& real) { return real == root.path; });
    if (root.is_folder && name.starts_with(root.name)) return open_below(root, name.substr(root.name.size()));
  }
  return not_there(name, "it is none of the files that are served");
}

// How far a journal is written is in its bytes.
void Files::look_inside(ListedFile& file, std::string_view name) const {
  if (!name.ends_with(io::journal::kFileEnding)) return;
  const auto found = open_exact(name);
  if (!found) return;
  file.stamp = found->stamp;
  const auto& head = found->stamp.journal;
  file.is_being_written = head && !head->is_closed && Writer().writes(head->process, file.stamp.inode);
}

std::vector<std::string> Files::journals() const {
  bool left_out = false;
  std::vector<std::string> names;
  walk(left_out, [&](const Root& root, const std::string& below, const struct stat& /*status*/) {
    if ((root.is_folder ? below : root.name).ends_with(io::journal::kFileEnding))
      names.push_back(root.name + below);
  });
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<ListedFile> Files::list(bool& left_out) const {
  std::vector<ListedFile> files;
  walk(left_out, [&](const Root& root, const std::string& below, const struct stat& status) {
    ListedFile file = listed(root.name + below, status);
    look_inside(file, root.name + below);
    files.push_back(std::move(file));
  });
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.shown.name < b.shown.name; });
  return files;
}

template <typename Take>
void Files::walk(bool& left_out, const Take& take) const {
  size_t files = 0, looked = 0;
  left_out = false;
  for (const Root& root : roots_) {
    struct stat status {};
    if (!root.is_folder) {
      if (stat(root.path.c_str(), &status) == 0) take(root, "", status);
      continue;
    }
    std::error_code error;
    fs::recursive_directory_iterator entry(root.path, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      left_out = left_out || files >= kMostFiles || ++looked > kMostLooked;
      if (left_out) break;
      const std::string path = entry->path().string();
      const std::string name = path.substr(root.path.size() + (root.path == "/" ? 0 : 1));
      if (entry->path().filename().string().starts_with('.')) {
        entry.disable_recursion_pending();
        continue;
      }
      if (entry.depth() >= kDeepest) entry.disable_recursion_pending();
      if (!may_be_snapshot(name) || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
      // Links that lead out are refused when they are opened; they need not be shown.
      if (entry->is_symlink(error) && !open_below(root, name)) continue;
      ++files;
      take(root, name, status);
    }
  }
}

std::string Files::about() const {
  if (roots_.size() == 1) return roots_[0].path;
  return fmt::format("{} and {} more", roots_.empty() ? "" : roots_[0].path, roots_.size() - 1);
}

}  // namespace gpustrata::serve
