#include "engine/io/writers/snapshot_shape.h"

#include <fmt/format.h>

#include <unordered_set>

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
