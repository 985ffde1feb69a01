#include "engine/cli/opened_device.h"

#include <utility>

namespace gpustrata::cli {

Result<OpenedDevice> open_device(const model::Recording& recording, const Chosen& chosen,
                                 std::string_view rules) {
  auto device = analysis::Device::open(recording, *chosen.part, chosen.device, rules);
  if (!device) return tl::unexpected(device.error());
  const auto context = (*device)->context();
  if (!context) return tl::unexpected(context.error());
  return OpenedDevice{std::move(*device), *context};
}

Status go_to(replay::MemoryAt& memory, int32_t event) {
  if (memory.go_to(event)) return {};
  return fail(ErrorCode::limit_exceeded, -1, "The memory state does not fit into memory.");
}

Outcome<OpenedDevice> open_chosen(const model::Recording& recording, const FileChoice& choice) {
  const auto chosen = choose(recording, choice);
  if (!chosen) return tl::unexpected(chosen.error());
  auto opened = open_device(recording, *chosen);
  if (!opened) return failure(opened.error(), choice.file);
  return std::move(*opened);
}

}  // namespace gpustrata::cli
