// Random requests on a real device: every byte belongs to one owner at a time.
//
//   gpu_random [operations, default 1000000] [segments|expandable]
//
// Blocks are filled by their stream with a pattern of their own; before a block is freed its first, middle
// and last words are read back and must still be it. Some blocks are also written by a second stream right
// before they are freed: if the allocator handed such memory on too early, that write would land in the next
// owner's. Exit code 77: no device here.
#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "capture/cuda/driver_abi.h"
#include "capture/memstrata.h"

namespace {

using namespace memstrata::capture::cuda;

constexpr size_t kMostBytes = size_t{4} << 30;  // live at a time
constexpr size_t kStreams = 4;

struct Driver {
  CuResult (*retain)(CuContext*, CuDevice) = nullptr;
  CuResult (*set_current)(CuContext) = nullptr;
  CuResult (*create_stream)(CuStream*, unsigned) = nullptr;
  CuResult (*synchronize)(CuStream) = nullptr;
  CuResult (*fill)(CuDevicePtr, unsigned, size_t, CuStream) = nullptr;
  CuResult (*copy_back)(void*, CuDevicePtr, size_t, CuStream) = nullptr;
};

[[noreturn]] void stop(const char* why) {
  (void)std::fprintf(stderr, "gpu_random: %s: %s\n", why, memstrata_last_error());
  std::exit(1);
}
void must(CuResult result, const char* what) {
  if (result == kSuccess) return;
  (void)std::fprintf(stderr, "gpu_random: %s: CUDA error %d\n", what, result);
  std::exit(1);
}

[[nodiscard]] Driver load() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  Driver driver;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr) stop(name);
  };
  find(driver.retain, "cuDevicePrimaryCtxRetain");
  find(driver.set_current, "cuCtxSetCurrent");
  find(driver.create_stream, "cuStreamCreate");
  find(driver.synchronize, "cuStreamSynchronize");
  find(driver.fill, "cuMemsetD32Async");
  find(driver.copy_back, "cuMemcpyDtoHAsync_v2");
  return driver;
}

struct Block {
  CuDevicePtr address = 0;
  size_t bytes = 0;
  unsigned pattern = 0;
  size_t stream = 0;
};

class Run {
 public:
  explicit Run(const Driver& driver) : driver_(driver) {
    for (CuStream& stream : streams_) must(driver_.create_stream(&stream, 1), "cuStreamCreate");
  }

  void operation() {
    const bool full = live_bytes_ > kMostBytes;
    if (!full && (blocks_.empty() || random_() % 100 < 55)) {
      take();
    } else {
      give_back();
    }
    if (random_() % 50000 == 0) (void)memstrata_empty_cache();
  }
  void finish() {
    while (!blocks_.empty()) give_back();
    if (memstrata_empty_cache() != MEMSTRATA_OK) stop("empty_cache");
  }
  [[nodiscard]] int64_t checked() const { return checked_; }

 private:
  void take() {
    const auto kind = random_() % 100;
    const size_t most = kind < 80 ? 1U << 18 : kind < 97 ? 12U << 20 : 200U << 20;
    Block block;
    block.bytes = (1 + random_() % most + 3) / 4 * 4;
    block.stream = random_() % kStreams;
    block.pattern = static_cast<unsigned>(random_());
    void* pointer = nullptr;
    if (memstrata_malloc(&pointer, block.bytes, 0, streams_[block.stream]) != MEMSTRATA_OK) stop("malloc");
    block.address = reinterpret_cast<CuDevicePtr>(pointer);
    must(driver_.fill(block.address, block.pattern, block.bytes / 4, streams_[block.stream]), "fill");
    live_bytes_ += block.bytes;
    blocks_.push_back(block);
  }

  void give_back() {
    std::swap(blocks_[random_() % blocks_.size()], blocks_.back());
    const Block block = blocks_.back();
    blocks_.pop_back();
    live_bytes_ -= block.bytes;
    if (random_() % 4 == 0) check(block);
    void* const pointer = reinterpret_cast<void*>(block.address);
    if (random_() % 10 == 0) {
      CuStream const other = streams_[(block.stream + 1) % kStreams];
      if (memstrata_use_on_stream(pointer, other) != MEMSTRATA_OK) stop("use_on_stream");
      must(driver_.fill(block.address, ~block.pattern, block.bytes / 4, other), "fill");
    }
    if (memstrata_release(pointer) != MEMSTRATA_OK) stop("release");
  }

  void check(const Block& block) {
    std::array<unsigned, 3> words{};
    const std::array<size_t, 3> at{0, block.bytes / 8 * 4, block.bytes - 4};
    for (size_t i = 0; i < 3; ++i)
      must(driver_.copy_back(&words[i], block.address + at[i], 4, streams_[block.stream]), "copy");
    must(driver_.synchronize(streams_[block.stream]), "synchronize");
    for (const unsigned word : words) {
      if (word != block.pattern) stop("memory was written by another owner");
    }
    ++checked_;
  }

  const Driver& driver_;
  std::array<CuStream, kStreams> streams_{};
  std::mt19937 random_{20251121};
  std::vector<Block> blocks_;
  size_t live_bytes_ = 0;
  int64_t checked_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int64_t operations = argc > 1 ? std::atoll(argv[1]) : 1000000;
  const bool expandable = argc > 2 && std::strcmp(argv[2], "expandable") == 0;
  if (memstrata_device_count() == 0) {
    std::array<char, 512> text{};
    (void)memstrata_describe_devices(text.data(), text.size());
    std::printf("skipped: %s\n", text.data());
    return 77;
  }
  const Driver driver = load();
  CuContext context = nullptr;
  must(driver.retain(&context, 0), "cuDevicePrimaryCtxRetain");
  must(driver.set_current(context), "cuCtxSetCurrent");
  if (expandable && memstrata_set_allocator_settings("expandable_segments:True") != MEMSTRATA_OK)
    stop("settings");
  Run run(driver);
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < operations; ++i) run.operation();
  run.finish();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::array<char, 16384> stats{};
  (void)memstrata_memory_stats(0, stats.data(), stats.size());
  if (std::strstr(stats.data(), "\"reserved_bytes.all.current\":0,") == nullptr) stop("memory is left over");
  std::printf("%lld operations (%s), %lld blocks checked, %.1f s\n", static_cast<long long>(operations),
              expandable ? "expandable" : "segments", static_cast<long long>(run.checked()), took.count());
}
