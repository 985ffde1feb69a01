#include "engine/cli/opened_device.h"

#include <fmt/core.h>

#include <utility>

namespace memstrata::cli {

Result<OpenedDevice> open_device(const model::Recording& recording, const Chosen& chosen) {
  const model::Snapshot snapshot =
      chosen.device == replay::kHostDevice ? replay::host_as_device(*chosen.snapshot) : *chosen.snapshot;
  auto lifetimes = replay::find_lifetimes(recording, snapshot, chosen.device);
  if (!lifetimes) return tl::unexpected(lifetimes.error());
  auto history = replay::undo_to_start(recording, snapshot, chosen.device);
  if (!history) return tl::unexpected(history.error());
  auto index = analysis::index_device(recording, snapshot, *lifetimes);
  if (!index) return tl::unexpected(index.error());
  return OpenedDevice{snapshot, std::move(*lifetimes), std::move(*history), std::move(*index)};
}

std::string OpenedDevice::name() const {
  const int32_t device = history.rows.device;
  return device == replay::kHostDevice ? "host memory" : fmt::format("device {}", device);
}

Status go_to(replay::MemoryAt& memory, int32_t event) {
  if (memory.go_to(event)) return {};
  return fail(ErrorCode::limit_exceeded, -1, "The memory state does not fit into memory.");
}

}  // namespace memstrata::cli
