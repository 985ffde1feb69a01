// What the fuzz targets of readers have in common: any bytes, in chunks that the fuzzer chooses, with a small
// budget. The reader may refuse, but what it gives must be in order, and what it charged is given back.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/io/reader.h"
#include "tests/unit/io/check_recording.h"

namespace gpustrata::tests {

// `read(recording, use)` makes a reader of the recording, gives it to use() and returns what that returned.
// The first byte of the input picks chunks and budget.
template <typename Read>
int fuzz_reader(const uint8_t* data, size_t size, const Read& read) {
  if (size == 0) return 0;
  constexpr size_t kChunks[] = {1, 3, 7, 64, 1000, size_t{1} << 20};
  constexpr int64_t kBudgets[] = {int64_t{1} << 20, int64_t{64} << 20};
  const size_t chunk = kChunks[(data[0] & 0x7F) % std::size(kChunks)];
  const int64_t limit = kBudgets[data[0] >> 7];
  ++data;
  --size;

  Budget budget(limit);
  {
    model::Recording recording(budget);
    const Status status = read(recording, [&](io::Reader& reader) -> Status {
      for (size_t at = 0; at < size;) {
        const std::span<std::byte> target = reader.writable();
        const size_t count = std::min({target.size(), chunk, size - at});
        std::memcpy(target.data(), data + at, count);
        if (Status done = reader.commit(count); !done) return done;
        at += count;
      }
      return reader.finish();
    });
    if (status) {
      if (const std::string problem = problem_of(recording); !problem.empty()) {
        std::fprintf(stderr, "%s\n", problem.c_str());
        std::abort();
      }
    }
    if (budget.used() > limit) std::abort();
  }
  if (budget.used() != 0) std::abort();
  return 0;
}

// Of a reader that leaves the recording open.
template <typename Make>
int fuzz_kind(const uint8_t* data, size_t size, const Make& make) {
  return fuzz_reader(data, size, [&](model::Recording& recording, const auto& use) {
    const Status status = use(*make(recording));
    if (status) recording.seal();
    return status;
  });
}

}  // namespace gpustrata::tests
