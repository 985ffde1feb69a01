// More pairs of pool ids than the table for them begins with.
#include <gtest/gtest.h>

#include "tests/unit/io/read_file.h"
#include "tests/unit/io/snapshot_py.h"

namespace gpustrata::tests {
namespace {

TEST(TorchSnapshot, FiveHundredPoolsKeepTheirIds) {
  constexpr int kPools = 500;
  std::vector<Py> segments;
  for (int i = 0; i < kPools; ++i)
    segments.push_back(segment(int64_t{4096} * (i + 1), 512, {block(512, "inactive")})
                           .with("segment_pool_id", Py::tuple({i / 2, i % 2})));
  const auto file = read(snapshot(std::move(segments), {}));
  const model::Recording& recording = file->recording;
  ASSERT_EQ(recording.segments.size_rows(), size_t{kPools});
  for (int i = 0; i < kPools; ++i) {
    const model::Pool& pool = recording.pools[recording.segments.pool[i].index()];
    EXPECT_EQ(pool.graph_id, i / 2);
    EXPECT_EQ(pool.user_id, i % 2);
  }
}

}  // namespace
}  // namespace gpustrata::tests
