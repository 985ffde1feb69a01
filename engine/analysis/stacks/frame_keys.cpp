#include "engine/analysis/stacks/frame_keys.h"

#include <algorithm>
#include <bit>

#include "engine/base/hash.h"

namespace gpustrata::analysis {

bool find_frame_keys(const model::Recording& recording, FrameKey by, Column<int32_t>& keys) {
  struct Key {
    int32_t name, file, line;
    bool operator==(const Key&) const = default;
  };
  const auto key_of = [&](int32_t i) {
    const trace::Frame& frame = recording.frames[FrameId{i}];
    return Key{by == FrameKey::file ? -1 : frame.name.value, frame.filename.value,
               by == FrameKey::line ? std::max(frame.line, 0) : 0};
  };
  const size_t count = recording.frames.size();
  const size_t mask = std::bit_ceil(count * 2 + 2) - 1;
  Column<int32_t> table(recording.budget);  // the first frame of each key
  if (!keys.resize(count, -1) || !table.resize(mask + 1, -1)) return false;
  for (size_t i = 0; i < count; ++i) {
    const auto frame = static_cast<int32_t>(i);
    const Key key = key_of(frame);
    size_t slot = hash_bytes(&key, sizeof(key)) & mask;
    while (table[slot] >= 0 && key_of(table[slot]) != key) slot = (slot + 1) & mask;
    if (table[slot] < 0) table[slot] = frame;
    keys[i] = table[slot];
  }
  return true;
}

}  // namespace gpustrata::analysis
