// The snapshot reader with and without its shortcuts on the same bytes: the same Recording, findings and
// errors. The first byte of the input picks the size of the chunks of the fast one.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "engine/io/readers/snapshot/torch_snapshot.h"
#include "tests/unit/io/same_recording.h"

namespace {

using namespace gpustrata;

struct Read {
  explicit Read(int64_t limit) : budget(limit), recording(budget) {}
  Budget budget;
  model::Recording recording;
  Status status;
};

std::unique_ptr<Read> read(std::string_view bytes, bool plain, size_t chunk) {
  auto made = std::make_unique<Read>(int64_t{1} << 30);
  const auto reader =
      plain ? io::plain_torch_snapshot_reader(made->recording) : io::torch_snapshot_reader(made->recording);
  reader->expect_bytes(static_cast<int64_t>(bytes.size()));
  for (size_t at = 0; made->status && at < bytes.size();) {
    const std::span<std::byte> target = reader->writable();
    const size_t count = std::min({target.size(), chunk, bytes.size() - at});
    std::memcpy(target.data(), bytes.data() + at, count);
    made->status = reader->commit(count);
    at += count;
  }
  if (made->status) made->status = reader->finish();
  if (made->status) made->recording.seal();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr size_t kChunks[] = {size_t{1} << 20, 1000, 150, 64};
  const size_t chunk = kChunks[data[0] % std::size(kChunks)];
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto fast = read(bytes, false, chunk);
  const auto plain = read(bytes, true, size_t{1} << 20);
  if (fast->status.has_value() != plain->status.has_value()) std::abort();
  if (!fast->status) {
    if (fast->status.error().message != plain->status.error().message) std::abort();
  } else if (const auto difference = tests::difference_of(fast->recording, plain->recording);
             !difference.empty()) {
    std::fprintf(stderr, "%s\n", difference.c_str());
    std::abort();
  }
  return 0;
}
