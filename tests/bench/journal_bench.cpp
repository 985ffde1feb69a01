// What a journal costs the program that is observed, and the thread that writes it.
//
//   journal_bench [thousands of events, default 10000]
//
// The file is at most 64 MiB, so that the oldest of ten million events go. It is read again, and its last event and its number
// compared, before times are printed. References in the same run: reading the clock; a lock, a copy of 72 bytes and the end of the
// lock, which is what the journal's call has to do at least. Time of the calling thread where not said otherwise.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "capture/recorder/journal.h"
#include "engine/io/any_reader.h"
#include "engine/model/recording.h"

namespace {

using namespace gpustrata;

constexpr int64_t kMaxSize = int64_t{64} << 20;
constexpr int kRuns = 15;

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "journal_bench: %s\n", why);
  std::exit(1);
}

double thread_ns() {
  timespec now{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct Times {
  double median = 0, best = 0;
};
Times time_of(int64_t calls, const std::function<void()>& work) {
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    const double start = thread_ns();
    work();
    times.push_back((thread_ns() - start) / static_cast<double>(calls));
  }
  std::sort(times.begin(), times.end());
  return {times[kRuns / 2], times[0]};
}
void print(const char* what, Times times, double reference) {
  std::printf("%-58s %8.1f ns, at best %.1f; %.1f times the reference\n", what, times.median, times.best,
              times.median / reference);
}

// A program with 5,000 blocks: each is given back before its place is used again.
trace::TraceEvent event_of(int64_t i, StackId stack) {
  const int64_t place = i / 2 % 5000;
  trace::TraceEvent event;
  event.action = i % 2 == 0 ? trace::Action::alloc : trace::Action::free_completed;
  event.address = 0x7f0000000000 + static_cast<uint64_t>(place) * 4096;
  event.size = 512 + place % 3000;
  event.time_us = 1'700'000'000'000'000 + i * 3;
  event.stack = stack;
  return event;
}

struct Record72 {
  std::mutex lock;
  std::vector<std::byte> ring = std::vector<std::byte>(size_t{4} << 20);
  size_t at = 0;
  void put(const trace::TraceEvent& event) {
    std::byte record[72] = {};
    static_assert(sizeof event <= sizeof record);
    std::memcpy(record, &event, sizeof event);
    const std::lock_guard guard(lock);
    if (at + 72 > ring.size()) at = 0;
    std::memcpy(ring.data() + at, record, 72);
    at += 72;
  }
};

int64_t megabytes_resident() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE) >> 20;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t thousands = argc > 1 ? std::atoll(argv[1]) : 10'000;
  const int64_t events = thousands * 1000;
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("journal_bench_{}.gpustrata", getpid());

  constexpr int64_t kBurst = 20'000;  // less than half of the ring: the writer sleeps
  int64_t sum = 0;
  const Times clock = time_of(kBurst, [&] {
    for (int64_t i = 0; i < kBurst; ++i) {
      timespec now{};
      (void)clock_gettime(CLOCK_REALTIME, &now);
      sum += now.tv_nsec;
    }
  });
  Record72 least;
  const Times reference = time_of(kBurst, [&] {
    for (int64_t i = 0; i < kBurst; ++i) least.put(event_of(i, {}));
  });
  std::printf("%-58s %8.1f ns\n", "reading the clock", clock.median);
  print("reference: a lock and a copy of its bytes", reference, reference.median);

  const int64_t before = megabytes_resident();
  auto journal = capture::Journal::create(path, {.max_size = kMaxSize});
  if (!journal) stop(journal.error().message.c_str());
  capture::Journal& to = **journal;
  std::vector<StackId> stacks;
  for (int i = 0; i < 1000; ++i) {
    std::vector<FrameId> frames;
    for (int depth = 0; depth < 40; ++depth)
      frames.push_back(to.frame(fmt::format("function_{}", depth < 20 ? i * 7 + depth : depth),
                                "package/module.py", depth));
    stacks.push_back(to.stack(frames));
  }
  to.state(0, {}, {});
  trace::TraceEvent segment = event_of(0, stacks[0]);
  segment.action = trace::Action::segment_alloc;
  segment.size = int64_t{20} << 20;
  to.event(0, segment);
  int64_t told = 0;
  const auto tell = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i, ++told)
      to.event(0, event_of(told, stacks[static_cast<size_t>(told / 64 % 1000)]));
  };
  std::vector<double> bursts;
  for (int run = 0; run < kRuns; ++run) {
    const double start = thread_ns();
    tell(kBurst);
    bursts.push_back((thread_ns() - start) / kBurst);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  std::sort(bursts.begin(), bursts.end());
  print("an event, while the writer keeps up", {bursts[kRuns / 2], bursts[0]}, reference.median);

  rusage at_start{};
  (void)getrusage(RUSAGE_SELF, &at_start);
  const auto begin = std::chrono::steady_clock::now();
  const double start = thread_ns();
  tell(events);
  const double calling = (thread_ns() - start) / static_cast<double>(events);
  to.close();
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rusage at_end{};
  (void)getrusage(RUSAGE_SELF, &at_end);
  const auto seconds = [](const rusage& use) {
    return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
  };
  const double processor = (seconds(at_end) - seconds(at_start)) / static_cast<double>(events) * 1e9;
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path));
  const int64_t after = megabytes_resident();

  std::ifstream file(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  Budget budget(int64_t{4} << 30);
  model::Recording recording(budget);
  io::AnyReader reader(recording);
  const auto open_begin = std::chrono::steady_clock::now();
  if (!io::push(reader, std::as_bytes(std::span(all.data(), all.size()))) || !reader.finish())
    stop("it cannot be read");
  const double opening = std::chrono::duration<double>(std::chrono::steady_clock::now() - open_begin).count();
  const auto rows = static_cast<int64_t>(recording.events.size_rows());
  if (bytes > kMaxSize || rows == 0 ||
      recording.events.time[static_cast<size_t>(rows - 1)] != event_of(told - 1, {}).time_us ||
      recording.diagnostics.incomplete())
    stop("what is read is not what was told");

  std::printf("%-58s %8.1f ns of the caller (it helps when the ring is full), %.1f ns of both threads\n",
              "an event, as fast as they come", calling, processor);
  std::printf(
      "%lld events in %.2f s; %.1f MiB of at most %.0f, %lld events left, %.1f bytes each; opened in %.2f s\n",
      static_cast<long long>(told), wall, static_cast<double>(bytes) / (1 << 20),
      static_cast<double>(kMaxSize) / (1 << 20), static_cast<long long>(rows),
      static_cast<double>(bytes) / static_cast<double>(rows), opening);
  std::printf("resident memory: %lld MiB before, %lld MiB at the end\n", static_cast<long long>(before),
              static_cast<long long>(after));
  return sum < 0 ? 1 : 0;
}
