// Budgets of the recorder: recording one event, malloc + free with a cached stack recorded (250 ns), and the
// dump of 100,000 events with stacks of 40 frames to memory (15 ms once symbolised; PyTorch takes about 720
// ms).
//
//   recorder_bench [events in thousands, default 100]
//
// References in the same run: reading the clock, a copy of the event, malloc + free without a recorder,
// copying the bytes of the dump. Dumps are read again and their events compared before times are printed.
// Plain C++ without a benchmark library.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"
#include "engine/io/readers/snapshot/torch_snapshot.h"
#include "tests/unit/io/dump_snapshot.h"

namespace {

using namespace gpustrata;

constexpr int kRuns = 15;
constexpr int kDepth = 40;

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "recorder_bench: %s\n", why);
  std::exit(1);
}

class SystemClock final : public trace::Clock {
 public:
  [[nodiscard]] int64_t now_us() override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  }
};

// The counter of the processor, as a capturing program would read it; PyTorch does so, too.
class CycleClock final : public trace::Clock {
 public:
#if defined(__x86_64__)
  CycleClock() {
    const auto start = std::chrono::steady_clock::now();
    const uint64_t first = __builtin_ia32_rdtsc();
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(20)) {
    }
    us_per_cycle_ = 20'000.0 / static_cast<double>(__builtin_ia32_rdtsc() - first);
  }
  [[nodiscard]] int64_t now_us() override {
    return static_cast<int64_t>(static_cast<double>(__builtin_ia32_rdtsc()) * us_per_cycle_);
  }

 private:
  double us_per_cycle_ = 0;
#else
  [[nodiscard]] int64_t now_us() override { return SystemClock().now_us(); }
#endif
};

// Milliseconds of the processor for one piece of work, of several runs: other programs matter less than for a
// clock on the wall. Nothing here waits.
struct Times {
  double median = 0, best = 0;
};

template <typename F>
[[nodiscard]] Times time_of(F&& work) {
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    const std::clock_t start = std::clock();
    work();
    times.push_back(static_cast<double>(std::clock() - start) * 1e3 / CLOCKS_PER_SEC);
  }
  std::sort(times.begin(), times.end());
  return {times[kRuns / 2], times[0]};
}

void print(const char* what, Times times, double factor, const char* unit) {
  std::printf("%-62s %9.2f %s, at best %.2f\n", what, times.median * factor, unit, times.best * factor);
}

// Stacks of 40 frames that share their outer ones, as those of a training loop do; `shared` of 40.
[[nodiscard]] std::vector<StackId> make_stacks(trace::Recorder& recorder, int count, int shared) {
  std::vector<StackId> stacks;
  for (int i = 0; i < count; ++i) {
    std::vector<FrameId> frames;
    for (int depth = 0; depth < kDepth; ++depth) {
      const bool common = depth >= kDepth - shared;
      // 2000 different frames, about what a program has.
      const int which = common ? depth : (i * 31 + depth * (17 + i / 2000)) % 2000;
      frames.push_back(
          recorder.frame("function_" + std::to_string(which),
                         "/opt/site-packages/package/module_" + std::to_string(which / 10) + ".py", which));
    }
    stacks.push_back(recorder.stack(frames));
    if (stacks.back().is_none()) stop("no memory for a stack");
  }
  return stacks;
}

[[nodiscard]] trace::TraceEvent event_of(int64_t i, StackId stack) {
  trace::TraceEvent event;
  event.action = i % 2 == 0 ? trace::Action::alloc : trace::Action::free_completed;
  event.address = 0x7f0000000000 + static_cast<uint64_t>(i % 5000) * 512;
  event.size = 512 + i % 100'000;
  event.stack = stack;
  return event;
}

void bench_events(int64_t events) {
  SystemClock clock;
  int64_t sum = 0;
  const Times clock_time = time_of([&] {
    for (int64_t i = 0; i < events; ++i) sum += clock.now_us() & 1;
  });
  std::vector<trace::TraceEvent> copies(static_cast<size_t>(events));
  const Times copy_time = time_of([&] {
    for (int64_t i = 0; i < events; ++i) copies[static_cast<size_t>(i)] = event_of(i, StackId{0});
  });
  const double per = 1e6 / static_cast<double>(events);
  print("reference: reading the clock", clock_time, per, "ns");
  print("reference: a copy of the event", copy_time, per, "ns");
  CycleClock cycles;
  const Times cycles_time = time_of([&] {
    for (int64_t i = 0; i < events; ++i) sum += cycles.now_us() & 1;
  });
  print("reference: reading the counter of the processor", cycles_time, per, "ns");
  for (const bool full : {false, true}) {
    Budget budget(int64_t{1} << 30);
    trace::Recorder recorder(cycles, budget);
    trace::RecordOptions options;
    if (full) options.max_entries = 10'000;
    options.clear_history = true;
    trace::DeviceRecorder& device = recorder.device(0);
    const StackId stack = make_stacks(recorder, 1, 0)[0];
    const Times time = time_of([&] {
      if (!recorder.record_memory_history(options)) stop("record_memory_history");
      for (int64_t i = 0; i < events; ++i) {
        device.on_event(event_of(i, stack));
        if (i % 1000 == 0) device.prepare();
      }
    });
    const int64_t kept = full ? std::min<int64_t>(events, 10'000) : events;
    if (device.events().size() != kept || device.events()[kept - 1].size != 512 + (events - 1) % 100'000) {
      stop("the ring lost events");
    }
    print(full ? "record an event, ring of 10,000 that is full" : "record an event, unlimited ring", time,
          per, "ns");
  }
  if (sum < 0) stop("the clock");
}

void bench_interning() {
  SystemClock clock;
  Budget budget(int64_t{1} << 30);
  trace::Recorder recorder(clock, budget);
  (void)make_stacks(recorder, 2000, 20);
  std::vector<std::vector<FrameId>> lists;
  for (size_t i = 0; i < recorder.stacks().size(); ++i)
    lists.push_back(recorder.stacks().frames_of(StackId{i}));
  const Times time = time_of([&] {
    for (size_t i = 0; i < lists.size(); ++i) {
      if (recorder.stack(lists[i]) != StackId{i}) stop("an interned stack is not itself");
    }
  });
  print("intern a known stack of 40 frames", time, 1e6 / static_cast<double>(lists.size()), "ns");
}

void bench_malloc_free() {
  for (const bool records : {false, true}) {
    CycleClock clock;
    Budget budget(int64_t{2} << 30);
    trace::Recorder recorder(clock, budget);
    if (records && !recorder.record_memory_history({})) stop("record_memory_history");
    alloc::SimulatedDevice memory(int64_t{64} << 30);
    alloc::DeviceAllocator allocator(memory, 0, {}, records ? &recorder.device(0) : nullptr, budget);
    const std::vector<StackId> stacks = make_stacks(recorder, 64, 20);
    // 10,000 live blocks of mixed sizes; then one is freed and another of its size made.
    uint32_t state = 1;
    const auto random = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
    std::vector<std::pair<uint64_t, int64_t>> live;
    for (int i = 0; i < 20'000; ++i) {
      const int64_t size = 1 + random() % (int64_t{1} << (9 + random() % 11));
      const auto address = allocator.malloc(size, 0, {stacks[static_cast<size_t>(i) % 64], {}});
      if (!address) stop("malloc failed");
      live.emplace_back(*address, size);
    }
    for (int i = 0; i < 10'000; ++i) {
      std::swap(live[random() % live.size()], live.back());
      if (!allocator.free(live.back().first)) stop("free failed");
      live.pop_back();
    }
    constexpr int kPairs = 100'000;
    const Times time = time_of([&] {
      for (int i = 0; i < kPairs; ++i) {
        auto& [address, size] = live[random() % live.size()];
        const StackId stack = records ? stacks[static_cast<size_t>(i) % 64] : StackId();
        if (!allocator.free(address, {stack, {}})) stop("free failed");
        const auto again = allocator.malloc(size, 0, {stack, {}});
        if (!again) stop("malloc failed");
        address = *again;
        if (records && i % 500 == 0) recorder.device(0).prepare();
      }
    });
    print(records ? "malloc + free, 10,000 live blocks, recorded (3 events)"
                  : "reference: malloc + free, not recorded",
          time, 1e6 / kPairs, "ns");
  }
}

void bench_dump(int64_t events, int stacks, int shared, const char* name) {
  SystemClock clock;
  Budget budget(int64_t{4} << 30);
  trace::Recorder recorder(clock, budget);
  if (!recorder.record_memory_history({})) stop("record_memory_history");
  trace::DeviceRecorder& device = recorder.device(0);
  const std::vector<StackId> ids = make_stacks(recorder, stacks, shared);
  for (int64_t i = 0; i < events; ++i) device.on_event(event_of(i, ids[static_cast<size_t>(i) % ids.size()]));

  io::MemorySink sink(budget);
  const Times dump_time = time_of([&] {
    sink.clear();
    if (!tests::dump_snapshot(recorder, {}, int64_t{2} << 30, sink)) stop("the dump failed");
  });
  // The parts: tables, then bytes.
  Times take_time, write_time;
  {
    Budget tables(int64_t{2} << 30);
    take_time = time_of([&] {
      model::Recording recording(tables);
      if (!model::take_snapshot(recorder, {}, {}, recording)) stop("take_snapshot failed");
    });
    model::Recording recording(tables);
    if (!model::take_snapshot(recorder, {}, {}, recording)) stop("take_snapshot failed");
    write_time = time_of([&] {
      sink.clear();
      if (!io::write_torch_snapshot(recording, sink)) stop("writing failed");
    });
  }
  std::vector<std::byte> copy(sink.bytes().size());
  const Times copy_time = time_of([&] { std::memcpy(copy.data(), sink.bytes().data(), copy.size()); });

  // What was dumped is what was recorded.
  Budget memory(int64_t{4} << 30);
  model::Recording back(memory);
  const auto reader = io::torch_snapshot_reader(back);
  if (!io::push(*reader, sink.bytes()) || !reader->finish()) stop("the dump cannot be read");
  back.seal();
  if (back.events.size_rows() != static_cast<size_t>(events)) stop("the dump has another number of events");
  for (int64_t i = 0; i < events; ++i) {
    const auto row = static_cast<size_t>(i);
    const trace::TraceEvent& event = device.events()[i];
    if (back.events.address[row] != event.address || back.events.size[row] != event.size ||
        back.events.time[row] != event.time_us || back.events.action[row] != event.action) {
      stop("an event differs");
    }
    if (i % 997 != 0) continue;
    const std::vector<FrameId> read = back.stacks.frames_of(back.events.stack[row]);
    const std::vector<FrameId> made = recorder.stacks().frames_of(event.stack);
    if (read.size() != made.size()) stop("a stack has another depth");
    for (size_t k = 0; k < read.size(); ++k) {
      if (back.strings.view(back.frames[read[k]].name) !=
          recorder.strings().view(recorder.frames()[made[k]].name)) {
        stop("a frame differs");
      }
    }
  }
  std::printf("%s: %.1f MB\n", name, static_cast<double>(copy.size()) / 1e6);
  print("  reference: a copy of the dump", copy_time, 1, "ms");
  print("  tables", take_time, 1, "ms");
  print("  bytes", write_time, 1, "ms");
  print("  dump", dump_time, 1, "ms");
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t events = (argc > 1 ? std::max(1, std::atoi(argv[1])) : 100) * int64_t{1000};
  bench_events(events);
  bench_interning();
  bench_malloc_free();
  bench_dump(events, 2000, 20, "dump, 2,000 stacks of 40 frames that share 20");
  bench_dump(events, static_cast<int>(events), 20, "dump, every event a stack of its own, sharing 20 of 40");
}
