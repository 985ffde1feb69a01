#include "engine/cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/cli/memory_limit.h"

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
  const int64_t limit = memory_limit();
  return limit > 0 ? limit / 4 * 3 : int64_t{8} << 30;
}

}  // namespace gpustrata::cli
