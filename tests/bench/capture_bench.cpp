// Budgets of the capture library: 50 ns for a C++ frame, malloc + free from the cache through the C API.
//
//   capture_bench [rounds, default 20000]
//
// References in the same run: glibc's backtrace() and, for the C API, the engine's allocator without locks
// and C calls is in alloc_bench. Before times are printed, the stack must be the one that backtrace() finds.
// Memory is the simulated device's: no driver call is in the times.
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "capture/gpustrata.h"
#include "capture/stacks/cpp_stack.h"
#include "capture/stacks/raw_stacks.h"

namespace {

using namespace gpustrata::capture;

int g_rounds = 20000;

// The thread's own time: what others do on the machine does not count.
[[nodiscard]] double now_ns() {
  timespec now{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Median of 9 runs, nanoseconds a round.
template <typename F>
[[nodiscard]] double time_of(F&& work) {
  std::vector<double> times;
  for (int run = 0; run < 9; ++run) {
    const double start = now_ns();
    for (int i = 0; i < g_rounds; ++i) work();
    times.push_back((now_ns() - start) / g_rounds);
  }
  std::sort(times.begin(), times.end());
  return times[4];
}

[[noreturn]] void stop(const char* why) {
  (void)std::fprintf(stderr, "capture_bench: %s\n", why);
  std::exit(1);
}

void measure_stack() {
  std::array<uint64_t, 512> addresses{};
  std::array<void*, 512> reference{};
  const size_t count = gather_cpp_stack(addresses);
  const auto expected = static_cast<size_t>(backtrace(reference.data(), 512));
  // The innermost return addresses differ (two calls), and a sanitizer's backtrace() adds a frame of its own.
  size_t shift = 0;
  while (shift < expected && reinterpret_cast<uint64_t>(reference[shift]) != addresses[1]) ++shift;
  if (count < 3 || shift + count - 2 > expected) stop("depth differs from that of backtrace()");
  for (size_t i = 1; i + 1 < count; ++i) {
    if (addresses[i] != reinterpret_cast<uint64_t>(reference[shift + i - 1]))
      stop("frames differ from those of backtrace()");
  }
  const auto frames = static_cast<double>(count);
  const double own = time_of([&] { (void)gather_cpp_stack(addresses); });
  const double theirs = time_of([&] { (void)backtrace(reference.data(), 512); });
  RawStacks stacks(
      int64_t{1} << 30, [](const PythonFrame&) { return PythonFrameText{}; }, [](void*) {});
  const double interned = time_of([&] {
    const RawStack stack{{addresses.data(), count}, {}};
    if (stacks.intern(stack).index() != 1) stop("a known stack got another id");
  });
  std::printf("C++ stack of %3zu frames (%s)      %7.1f ns a frame; backtrace() %.1f; interning it %.1f ns\n",
              count, std::string(cpp_unwinder()).c_str(), own / frames, theirs / frames, interned);
}

// NOLINTNEXTLINE(misc-no-recursion): the depth is the point
[[gnu::noinline]] void at_depth(int depth, void (*work)()) {
  if (depth == 0) {
    work();
  } else {
    at_depth(depth - 1, work);
  }
  asm volatile("" : : : "memory");  // no tail call
}

[[nodiscard]] double malloc_and_free() {
  return time_of([] {
    void* const pointer = gpustrata_alloc(100000, 0, nullptr);
    if (pointer == nullptr) stop("no memory");
    gpustrata_free(pointer, 100000, 0, nullptr);
  });
}

void record(const char* context, int64_t entries) {
  gpustrata_history history;
  gpustrata_default_history(&history);
  history.context = context;
  history.max_entries = entries;
  if (gpustrata_record_memory_history(&history) != GPUSTRATA_OK) stop(gpustrata_last_error());
}

void measure_allocator() {
  // 10,000 live blocks of mixed sizes.
  std::vector<void*> live;
  for (size_t i = 0; i < 10000; ++i) live.push_back(gpustrata_alloc(512 * (1 + i * 7919 % 400), 0, nullptr));
  std::printf("malloc + free, C API, recording off           %7.1f ns\n", malloc_and_free());
  timespec now{};
  std::printf("reading the clock                             %8.1f ns\n",
              time_of([&] { (void)clock_gettime(CLOCK_REALTIME, &now); }));
  record(nullptr, 100000);
  std::printf("malloc + free, recorded without stacks         %7.1f ns for 3 events\n", malloc_and_free());
  record("alloc", 100000);
  std::printf("malloc + free, recorded, stack of the malloc   %7.1f ns\n", malloc_and_free());
  record("all", 100000);
  std::printf("malloc + free, recorded, stacks of both        %7.1f ns\n", malloc_and_free());
  for (const char* which : {"first", "again"}) {
    char* bytes = nullptr;
    size_t size = 0;
    const double start = now_ns();
    if (gpustrata_snapshot(&bytes, &size) != GPUSTRATA_OK) stop(gpustrata_last_error());
    std::printf("dump of up to 100,000 events to memory, %s    %7.1f ms, %zu bytes\n", which,
                (now_ns() - start) / 1e6, size);
    gpustrata_free_bytes(bytes);
  }
  for (void* const pointer : live) gpustrata_free(pointer, 0, 0, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) g_rounds = std::max(1, std::atoi(argv[1]));
  if (gpustrata_use_simulated_device(int64_t{64} << 30) != GPUSTRATA_OK) stop(gpustrata_last_error());
  prepare_cpp_stacks();
  at_depth(25, measure_stack);
  at_depth(55, measure_stack);
  at_depth(25, measure_allocator);
}
