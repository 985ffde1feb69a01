// Streams as the official viewer numbers them: 0 stays 0, every other handle gets 1, 2, ... in order of first
// appearance, first in the events of all devices, then in the segments, then in those of the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/recording.h"

namespace gpustrata::analysis {

class StreamNumbers {
 public:
  // O(events) at worst; ends as soon as every stream has its number.
  StreamNumbers(const model::Recording& recording, const model::Part& part);
  // 0 for none.
  [[nodiscard]] int32_t operator[](StreamId stream) const {
    return stream.is_none() ? 0 : numbers_[stream.index()];
  }

 private:
  std::vector<int32_t> numbers_;  // at most 32768
};

// The raw handle: "0", "0x5581...".
[[nodiscard]] std::string handle_text(const model::Recording& recording, StreamId stream);

}  // namespace gpustrata::analysis
