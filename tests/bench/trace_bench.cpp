// Reads a profiler's trace, then asks for its table of ops and its lanes, and prints what that took, as one line of JSON.
//
//   trace_bench FILE [REPEATS=3]
//
// `check`: sum of the bytes of all memory records, what the Python reference computes, too. Lanes are asked for as the
// page does: all rows of all threads, 4,000 columns, at zooms from everything to a thousandth.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "engine/analysis/ops/op_memory.h"
#include "engine/io/any_reader.h"
#include "engine/replay/span_lanes.h"

namespace {

using namespace gpustrata;
using Clock = std::chrono::steady_clock;

[[nodiscard]] double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[nodiscard]] bool read(const char* path, model::Recording& recording) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  std::setvbuf(file, nullptr, _IONBF, 0);
  io::AnyReader reader(recording);
  while (!reader.done()) {
    const auto target = reader.writable();
    const size_t count = std::fread(target.data(), 1, target.size(), file);
    if (count == 0) break;
    if (!reader.commit(count)) return false;
  }
  std::fclose(file);
  return reader.finish().has_value();
}

struct Lanes {
  double made = 0, slowest = 0;
  size_t most = 0;  // entries of a question
};

// Of the part with most events.
[[nodiscard]] bool ask_lanes(const model::Recording& recording, Lanes& lanes) {
  const model::Part* part = nullptr;
  for (const model::Part& one : recording.parts) {
    if (one.spans.count > 0 && !one.traces.empty() && part == nullptr) part = &one;
  }
  if (part == nullptr) return false;
  const auto start = Clock::now();
  const auto made = replay::SpanLanes::make(recording, *part, part->traces.data());
  if (!made) return false;
  lanes.made = since(start);
  const replay::SpanAxis axis(recording, part->traces[0].events, part->clock);
  const double extent =
      axis.position(replay::Axis::time, recording.events.time[part->traces[0].events.end() - 1]);
  constexpr int32_t kColumns = 4000;
  std::vector<replay::LaneEntry> entries;
  for (double seen = extent; seen > extent / 1000; seen /= 2) {
    const auto asked = Clock::now();
    entries.clear();
    for (const replay::SpanLanes::Thread& thread : made->threads()) {
      for (int32_t row = 0; row < thread.rows; ++row) {
        made->entries(axis, {replay::Axis::time, (extent - seen) / 3, seen / kColumns, kColumns},
                      made->row(thread, row), entries);
      }
    }
    lanes.slowest = std::max(lanes.slowest, since(asked));
    lanes.most = std::max(lanes.most, entries.size());
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 3;
  std::vector<double> seconds, cpu;
  double table = 0, table_cpu = 0;
  Lanes lanes;
  long long heap = 0, check = 0, events = 0, spans = 0, rows = 0;
  for (int i = 0; i < repeats; ++i) {
    const auto budget = std::make_unique<Budget>(int64_t{1} << 40);
    const auto recording = std::make_unique<model::Recording>(*budget);
    const auto start = Clock::now();
    const std::clock_t cpu_start = std::clock();
    if (!read(argv[1], *recording)) return 1;
    seconds.push_back(since(start));
    cpu.push_back(static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
    heap = budget->used();
    events = static_cast<long long>(recording->events.size_rows());
    spans = static_cast<long long>(recording->spans.size_rows());
    check = 0;
    for (size_t row = 0; row < recording->events.size_rows(); ++row) {
      const bool is_free = recording->events.action[row] == trace::Action::free_completed;
      check += is_free ? -recording->events.size[row] : recording->events.size[row];
    }
    const auto asked = Clock::now();
    const std::clock_t asked_cpu = std::clock();
    const auto ops = analysis::find_op_memory(*recording, analysis::OpBy::op, analysis::OpScope::thread);
    if (!ops) return 1;
    const double took = since(asked);
    table = i == 0 ? took : std::min(table, took);
    const double took_cpu = static_cast<double>(std::clock() - asked_cpu) / CLOCKS_PER_SEC;
    table_cpu = i == 0 ? took_cpu : std::min(table_cpu, took_cpu);
    rows = ops->devices.empty() ? 0 : static_cast<long long>(ops->devices[0].rows.size());
    if (!ask_lanes(*recording, lanes)) return 1;
  }
  std::sort(seconds.begin(), seconds.end());
  std::sort(cpu.begin(), cpu.end());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"seconds\":%.6f,\"cpu\":%.6f,\"best\":%.6f,\"events\":%lld,\"spans\":%lld,\"check\":%lld,\"heap\":%lld,\"peak_rss\":%lld,"
      "\"table\":%.6f,\"table_cpu\":%.6f,\"rows\":%lld,\"lanes\":%.6f,\"lane_question\":%.6f,\"lane_entries\":%zu}\n",
      seconds[seconds.size() / 2], cpu[cpu.size() / 2], seconds[0], events, spans, check, heap,
      static_cast<long long>(usage.ru_maxrss) * 1024, table, table_cpu, rows, lanes.made, lanes.slowest,
      lanes.most);
  return 0;
}
