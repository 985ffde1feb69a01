// One opened file, whatever lies inside what; shared by all readers of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/io/limits.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

struct OpenedFile {
  model::Recording& recording;
  int64_t expected = 0;  // bytes of the file itself if known: the limit is then the same in any chunks
  int64_t received = 0;  // bytes of it so far
  int64_t unpacked = 0;  // bytes that compressed streams made of them, all levels together
  int32_t forgiven = 0;  // members of archives whose bytes do not count

  // Bytes that may still be unpacked; see limits.h.
  [[nodiscard]] int64_t room() const {
    return kFreeUnpackedBytes + std::max(expected, received) * kUnpackedPerPacked - unpacked;
  }
};

// While it lives, findings lie inside `inside`, which begins at byte `begin` of what is around it.
class Inside {
 public:
  Inside(OpenedFile& file, const std::string& inside, int64_t begin)
      : diagnostics_(file.recording.diagnostics), before_(diagnostics_.place()) {
    diagnostics_.set_place({inside, before_.inside.empty() ? begin : before_.file_offset});
  }
  ~Inside() { diagnostics_.set_place(std::move(before_)); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  model::Diagnostics& diagnostics_;
  model::Place before_;
};

}  // namespace gpustrata::io
