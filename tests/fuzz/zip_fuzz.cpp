// zip archives, as any_reader_fuzz.cpp, without the other kinds in the way.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/io/containers/zip_reader.h"
#include "tests/unit/io/check_recording.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace memstrata;
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
    io::OpenedFile file{recording};
    io::ZipReader reader(file, "", 0);
    Status status;
    for (size_t at = 0; status && at < size;) {
      const std::span<std::byte> target = reader.writable();
      const size_t count = std::min({target.size(), chunk, size - at});
      std::memcpy(target.data(), data + at, count);
      status = reader.commit(count);
      at += count;
    }
    if (status) status = reader.finish();
    if (status) recording.seal();
    if (status) {
      if (const std::string problem = tests::problem_of(recording); !problem.empty()) {
        std::fprintf(stderr, "%s\n", problem.c_str());
        std::abort();
      }
    }
    if (budget.used() > limit) std::abort();
  }
  if (budget.used() != 0) std::abort();  // everything that was charged is given back
  return 0;
}
