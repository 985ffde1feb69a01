// Control groups as files of a folder of this test, small enough that no machine has less memory.
#include "engine/cli/memory_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace gpustrata::cli {
namespace {

namespace fs = std::filesystem;

class MemoryLimit : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            ("memory_limit_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void file(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] int64_t limit() const { return memory_limit(root_.string()); }

  fs::path root_;
};

TEST_F(MemoryLimit, OfTheSecondVersionIsTheSmallestAround) {
  file("proc/self/cgroup", "0::/a/b\n");
  file("sys/fs/cgroup/a/b/memory.max", "max\n");
  file("sys/fs/cgroup/a/memory.max", "100000000\n");
  file("sys/fs/cgroup/memory.max", "200000000\n");
  EXPECT_EQ(limit(), 100'000'000);
}

TEST_F(MemoryLimit, OfAContainerWhosePathIsOneOfItsHost) {
  file("proc/self/cgroup", "0::/../of/the/host\n");
  file("sys/fs/cgroup/memory.max", "50000000\n");
  EXPECT_EQ(limit(), 50'000'000);
}

TEST_F(MemoryLimit, OfTheFirstVersion) {
  file("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/7\n0::/\n");
  file("sys/fs/cgroup/memory/docker/7/memory.limit_in_bytes", "70000000\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limit(), 70'000'000);
}

TEST_F(MemoryLimit, OfTheAddressSpace) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer needs more address space than there is memory";
#else
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  constexpr rlim_t kSome = rlim_t{1} << 30;
  const rlimit small{kSome, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
  const int64_t found = limit();
  EXPECT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(found, int64_t{1} << 30);
#endif
}

TEST_F(MemoryLimit, WithoutGroupsIsTheMachines) {
  EXPECT_GT(limit(), 100'000'000);
  file("proc/self/cgroup", "no such\nline\n:\n::\n");
  EXPECT_GT(limit(), 100'000'000);
}

}  // namespace
}  // namespace gpustrata::cli
