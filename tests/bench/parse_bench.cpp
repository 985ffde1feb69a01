// Reads a snapshot file as the command line tool does and prints what it took, as one line of JSON.
//
//   parse_bench FILE [REPEATS=5]
//
// Times are those of reading and parsing alone: nothing is replayed. `check` is a
// sum over all events that the Python reference computes, too.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

#include "engine/io/any_reader.h"

namespace {

using Clock = std::chrono::steady_clock;
using namespace gpustrata;

struct Run {
  double seconds = 0;
  double cpu = 0;    // processor time: what other work on the machine changes little
  int64_t heap = 0;  // bytes of the recording, the reader gone
  size_t events = 0;
  uint64_t check = 0;
};

[[nodiscard]] bool read_once(const char* path, Run& run) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  std::setvbuf(file, nullptr, _IONBF, 0);
  std::fseek(file, 0, SEEK_END);
  const long size = std::ftell(file);
  std::fseek(file, 0, SEEK_SET);
  Budget budget(int64_t{1} << 40);
  model::Recording recording(budget);
  const auto start = Clock::now();
  const std::clock_t cpu_start = std::clock();
  {
    io::AnyReader reader(recording);
    reader.expect_bytes(size);
    while (!reader.done()) {
      const auto target = reader.writable();
      const size_t count = std::fread(target.data(), 1, target.size(), file);
      if (count == 0) break;
      if (!reader.commit(count)) return false;
    }
    if (!reader.finish()) return false;
  }
  run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  run.cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  std::fclose(file);
  run.heap = budget.used();
  run.events = recording.events.size_rows();
  for (size_t i = 0; i < run.events; ++i) {
    run.check = run.check * 31 + recording.events.address[i] +
                static_cast<uint64_t>(recording.events.size[i] + recording.events.time[i]) +
                recording.stacks.frames_of(recording.events.stack[i]).size();
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 5;
  std::vector<double> seconds;
  std::vector<double> cpu;
  Run run;
  for (int i = 0; i < repeats; ++i) {
    run = {};
    if (!read_once(argv[1], run)) return 1;
    seconds.push_back(run.seconds);
    cpu.push_back(run.cpu);
  }
  std::sort(seconds.begin(), seconds.end());
  std::sort(cpu.begin(), cpu.end());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"seconds\":%.6f,\"cpu\":%.6f,\"best\":%.6f,\"events\":%zu,\"check\":%llu,\"heap\":%lld,\"peak_rss\":%lld}\n",
      seconds[seconds.size() / 2], cpu[cpu.size() / 2], seconds[0], run.events,
      static_cast<unsigned long long>(run.check), static_cast<long long>(run.heap),
      static_cast<long long>(usage.ru_maxrss) * 1024);
  return 0;
}
