#include "engine/cli/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

namespace gpustrata::cli {

namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

// A file with a number in it; kNone if there is none ("max").
[[nodiscard]] int64_t number_in(const std::string& path) {
  int64_t number = 0;
  std::ifstream file(path);
  return file >> number && number > 0 ? number : kNone;
}

// The limit of a group and those around it. In a container the path may be one of its host, which is not there: what is
// found at the top is then the container's own.
[[nodiscard]] int64_t limit_of_group(const std::string& folder, std::string path, std::string_view file) {
  int64_t limit = kNone;
  for (;;) {
    while (path.ends_with('/')) path.pop_back();
    limit = std::min(limit, number_in(folder + path + "/" + std::string(file)));
    if (path.empty()) return limit;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

// Lines "0::/path" (version 2) and "4:memory:/path" (version 1).
[[nodiscard]] int64_t limit_of_groups(const std::string& root) {
  const std::string groups = root + "/sys/fs/cgroup";
  int64_t limit = kNone;
  std::ifstream lines(root + "/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") limit = std::min(limit, limit_of_group(groups, path, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos)
      limit = std::min(limit, limit_of_group(groups + "/memory", path, "memory.limit_in_bytes"));
  }
  return limit;
}

}  // namespace

int64_t memory_limit(const std::string& root) {
  int64_t limit = limit_of_groups(root);
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) limit = std::min(limit, int64_t{pages} * page_bytes);
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    limit = static_cast<int64_t>(std::min<rlim_t>(space.rlim_cur, static_cast<rlim_t>(limit)));
  return limit == kNone ? 0 : limit;
}

}  // namespace gpustrata::cli
