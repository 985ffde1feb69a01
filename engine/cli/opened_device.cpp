#include "engine/cli/opened_device.h"

#include <charconv>
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

Result<int32_t> event_of(const OpenedDevice& opened, const std::string& at) {
  if (at == "peak") return opened.lifetimes.peak_event;
  if (at == "end") return opened.history.event_count() - 1;
  if (at == "start") return -1;
  int32_t event = 0;
  const auto [end, error] = std::from_chars(at.data(), at.data() + at.size(), event);
  if (error != std::errc() || end != at.data() + at.size() || event < -1 ||
      event >= opened.history.event_count())
    return fail(
        ErrorCode::wrong_usage, -1,
        "There is no event \"{}\": say peak, end, start, or an index below {} (-1 = before the first).", at,
        opened.history.event_count());
  return event;
}

Status go_to(replay::MemoryAt& memory, int32_t event) {
  if (memory.go_to(event)) return {};
  return fail(ErrorCode::limit_exceeded, -1, "The memory state does not fit into memory.");
}

}  // namespace memstrata::cli
