#include "engine/cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gpustrata::cli {

Status DescriptorSink::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(ErrorCode::io_error, -1, "Writing failed: {}.", std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

size_t columns_of(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                      : Console::kDefaultColumns;
}

int64_t default_budget_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return int64_t{8} << 30;
  return int64_t{pages} * page_bytes / 4 * 3;
}

}  // namespace gpustrata::cli
