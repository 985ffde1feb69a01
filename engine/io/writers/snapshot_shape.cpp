#include "engine/io/writers/snapshot_shape.h"

#include <fmt/format.h>

#include <unordered_set>

#include "engine/io/writers/torch_snapshot.h"

namespace gpustrata::io {

std::vector<std::string_view> forward_frame_pieces(std::string_view text) {
  constexpr std::string_view kStart = "\n  File \"";
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const size_t next = text.find(kStart);
    const size_t length = next == std::string_view::npos ? text.size() : next + 1;
    pieces.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return pieces;
}

Status check_devices(const model::Recording& recording, size_t snapshot) {
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    if (snapshot != kAllSnapshots && snapshot != i) continue;
    const std::vector<model::DeviceTrace>& traces = recording.parts[i].traces;
    if (!traces.empty() && traces.back().device >= static_cast<int32_t>(kMaxTraces))
      return fail(ErrorCode::limit_exceeded, -1,
                  "the history of device {} has no place in a snapshot, which lists up to {} devices",
                  traces.back().device, kMaxTraces);
  }
  return {};
}

std::vector<std::string> snapshot_keys(const model::Recording& recording) {
  bool numbered = true;
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    numbered = numbered && recording.parts[i].name == fmt::format("{}", i);
  }
  if (numbered) return {};
  std::vector<std::string> keys;
  std::unordered_set<std::string> taken;
  for (const model::Part& part : recording.parts) {
    std::string key = part.name;
    for (int copy = 2; !taken.insert(key).second; ++copy) key = fmt::format("{} ({})", part.name, copy);
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace gpustrata::io
