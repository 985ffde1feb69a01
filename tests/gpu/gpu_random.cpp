// Random requests of several threads on a real device: every byte belongs to one owner at a time.
//
//   gpu_random [operations, default 1000000] [segments|expandable] [threads, default 4]
//
// Together the threads hold at most a quarter of the memory that is free at the start, and no more than 4
// GiB. All use the same streams, so that blocks go from thread to thread. Blocks are filled by their stream
// with a pattern of their own; before a block is freed its first, middle and last words are read back and
// must still be it. Some blocks are also written by a second stream right before they are freed: if the
// allocator handed such memory on too early, that write would land in the next owner's. Exit code 77: no
// device here. It runs over the fake driver, too (tests/gpu/CMakeLists.txt).
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture/cuda/driver_abi.h"
#include "capture/gpustrata.h"

namespace {

using namespace gpustrata::capture::cuda;

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
  (void)std::fprintf(stderr, "gpu_random: %s: %s\n", why, gpustrata_last_error());
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
  using Streams = std::array<CuStream, kStreams>;
  // `most_bytes` live at a time. In a thread with a current context.
  Run(const Driver& driver, const Streams& streams, unsigned seed, size_t most_bytes)
      : driver_(driver), streams_(streams), random_(seed), most_bytes_(most_bytes) {}

  void operation() {
    const bool full = live_bytes_ > most_bytes_;
    if (!full && (blocks_.empty() || random_() % 100 < 55)) {
      take();
    } else {
      give_back();
    }
    if (random_() % 50000 == 0) (void)gpustrata_empty_cache();
  }
  void finish() {
    while (!blocks_.empty()) give_back();
  }
  [[nodiscard]] int64_t checked() const { return checked_; }
  [[nodiscard]] int64_t refused() const { return refused_; }

 private:
  void take() {
    const auto kind = random_() % 100;
    const size_t most = std::min<size_t>(kind < 80   ? 1U << 18
                                         : kind < 97 ? 12U << 20
                                                     : 200U << 20,
                                         most_bytes_ / 4);
    Block block;
    block.bytes = (1 + random_() % most + 3) / 4 * 4;
    block.stream = random_() % kStreams;
    block.pattern = static_cast<unsigned>(random_());
    void* pointer = nullptr;
    const gpustrata_status status = gpustrata_malloc(&pointer, block.bytes, 0, streams_[block.stream]);
    if (status == GPUSTRATA_OUT_OF_MEMORY && !blocks_.empty()) {  // others use the device, too
      ++refused_;
      return give_back();
    }
    if (status != GPUSTRATA_OK) stop("malloc");
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
      if (gpustrata_use_on_stream(pointer, other) != GPUSTRATA_OK) stop("use_on_stream");
      must(driver_.fill(block.address, ~block.pattern, block.bytes / 4, other), "fill");
    }
    if (gpustrata_release(pointer) != GPUSTRATA_OK) stop("release");
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
  const Streams& streams_;
  std::mt19937 random_;
  size_t most_bytes_;
  std::vector<Block> blocks_;
  size_t live_bytes_ = 0;
  int64_t checked_ = 0;
  int64_t refused_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int64_t operations = argc > 1 ? std::atoll(argv[1]) : 1000000;
  const bool expandable = argc > 2 && std::strcmp(argv[2], "expandable") == 0;
  if (gpustrata_device_count() == 0) {
    std::array<char, 512> text{};
    (void)gpustrata_describe_devices(text.data(), text.size());
    std::printf("skipped: %s\n", text.data());
    return 77;
  }
  const Driver driver = load();
  CuContext context = nullptr;
  must(driver.retain(&context, 0), "cuDevicePrimaryCtxRetain");
  must(driver.set_current(context), "cuCtxSetCurrent");
  Run::Streams streams{};
  for (CuStream& stream : streams) must(driver.create_stream(&stream, 1), "cuStreamCreate");
  if (expandable && gpustrata_set_allocator_settings("expandable_segments:True") != GPUSTRATA_OK)
    stop("settings");
  int64_t free_bytes = 0;
  if (gpustrata_memory_info(0, &free_bytes, nullptr) != GPUSTRATA_OK) stop("memory_info");
  const size_t most_bytes = std::min(kMostBytes, static_cast<size_t>(free_bytes) / 4);
  const auto count = static_cast<unsigned>(argc > 3 ? std::clamp(std::atoi(argv[3]), 1, 64) : 4);

  const auto start = std::chrono::steady_clock::now();
  std::atomic<int64_t> checked{0}, refused{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      must(driver.set_current(context), "cuCtxSetCurrent");
      Run run(driver, streams, 20251121 + i, most_bytes / count);
      for (int64_t left = operations / count; left > 0; --left) run.operation();
      run.finish();
      checked += run.checked();
      refused += run.refused();
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (gpustrata_empty_cache() != GPUSTRATA_OK) stop("empty_cache");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::array<char, 16384> stats{};
  (void)gpustrata_memory_stats(0, stats.data(), stats.size());
  if (std::strstr(stats.data(), "\"reserved_bytes.all.current\":0,") == nullptr) stop("memory is left over");
  if (checked == 0) stop("no block was checked");
  std::printf(
      "%lld operations (%s) of %u threads, %lld blocks checked, %lld requests out of memory, %.1f s\n",
      static_cast<long long>(operations / count * count), expandable ? "expandable" : "segments", count,
      static_cast<long long>(checked.load()), static_cast<long long>(refused.load()), took.count());
}
