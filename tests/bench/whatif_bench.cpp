// A recorded run once more under other settings, against the same requests through malloc and free of the allocator
// alone.
//
//   whatif_bench [MILLIONS=1] [OUT]    events of a made-up program, recorded by the allocator itself; answers are checked
//   before times are printed. OUT: the recording is written there, for wasm_whatif.mjs.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/analysis/what_if/what_if.h"
#include "engine/io/writers/torch_snapshot.h"
#include "engine/simulate/rerun.h"

namespace {

using namespace gpustrata;

constexpr int64_t kGiB = int64_t{1} << 30;

double seconds_of(const std::function<bool()>& work) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (!work()) return -1;
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// Sizes as a training program has them: many small ones, some of some MiB, few large; about 2,000 are in use.
bool make_requests(simulate::RequestLog& log, int64_t events) {
  std::mt19937_64 random(20261122);
  std::vector<int32_t> live;
  for (int64_t made = 0; made < events;) {
    simulate::RequestLog::Row row;
    if (live.size() < 2000 && (live.empty() || random() % 2000 >= live.size() / 2)) {
      const uint64_t kind = random() % 100;
      row.request = simulate::Request::allocate;
      row.size = static_cast<int64_t>(kind < 60   ? 1 + random() % (256 << 10)
                                      : kind < 95 ? (1 + random() % 64) << 18
                                                  : (1 + random() % 8) << 24);
      live.push_back(static_cast<int32_t>(log.size_rows()));
      ++made;
    } else {
      const size_t at = random() % live.size();
      row.request = simulate::Request::free;
      row.subject = live[at];
      live[at] = live.back();
      live.pop_back();
      made += 2;
    }
    if (!log.append(row)) return false;
  }
  log.seal();
  return true;
}

// malloc and free as the log asks, nothing else.
bool run_allocator_alone(const simulate::RequestLog& log, const alloc::Config& config, Budget& budget,
                         int64_t& peak) {
  alloc::SimulatedDevice device(int64_t{1} << 44, budget);
  alloc::DeviceAllocator allocator(device, 0, config, nullptr, budget);
  std::vector<uint64_t> address(log.size_rows());
  for (size_t row = 0; row < log.size_rows(); ++row) {
    if (log.request[row] == simulate::Request::allocate) {
      const auto made = allocator.malloc(log.size[row], log.stream[row]);
      if (!made) return false;
      address[row] = *made;
    } else if (log.request[row] == simulate::Request::free &&
               !allocator.free(address[static_cast<size_t>(log.subject[row])])) {
      return false;
    }
  }
  peak = allocator.stats().reserved_bytes.all().peak;
  return true;
}

class File final : public io::ByteSink {
 public:
  explicit File(const char* path) : out_(path, std::ios::binary) {}
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override {
    out_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return out_ ? Status() : fail(ErrorCode::io_error, -1, "the recording cannot be written");
  }

 private:
  std::ofstream out_;
};

int fail_with(std::string_view what) {
  fmt::print(stderr, "whatif_bench: {}\n", what);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const double millions = argc > 1 ? std::atof(argv[1]) : 1;
  Budget budget(4 * kGiB);
  model::Recording recording(budget);
  {
    simulate::RequestLog asked(budget);
    if (!make_requests(asked, static_cast<int64_t>(millions * 1e6))) return fail_with("no memory");
    const auto outcome = simulate::rerun(asked, {}, int64_t{1} << 44, recording);
    if (!outcome) return fail_with(outcome.error().message);
    recording.format = "simulated";
    recording.seal();
  }
  if (argc > 2) {
    File out(argv[2]);
    if (!io::write_torch_snapshot(recording, out, 0)) return fail_with("the recording cannot be written");
  }
  auto device = replay::Device::open(recording, recording.parts[0], 0);
  if (!device || !(*device)->history()) return fail_with("the recording could not be opened");
  const int64_t before = budget.used();
  const auto rehearsal = analysis::rehearse(**device, budget);
  if (!rehearsal) return fail_with(rehearsal.error().message);
  const int64_t kept = budget.used() - before;
  if (!rehearsal->fidelity.is_exact()) return fail_with("the recording was not repeated exactly");
  const int64_t requests = rehearsal->request_count();

  const auto other = analysis::settings_of("max_split_size_mb:256,roundup_power2_divisions:8");
  if (!other) return fail_with(other.error().message);
  analysis::RunNumbers numbers;
  int64_t peak = 0;
  const double run = seconds_of([&] {
    const auto ran = analysis::run_scenario(*rehearsal, {*other}, budget);
    if (ran) numbers = *ran;
    return ran.has_value();
  });
  const double alone =
      seconds_of([&] { return run_allocator_alone(rehearsal->requests.log, *other, budget, peak); });
  if (run < 0 || alone < 0) return fail_with("a run failed");
  if (peak != numbers.peak_reserved) return fail_with("the allocator alone reserved something else");
  const double told = seconds_of([&] { return analysis::rehearse(**device, budget).has_value(); });

  std::vector<std::string> texts = analysis::settings_to_try(*rehearsal);
  texts.resize(std::min<size_t>(texts.size(), 12));
  while (texts.size() < 12) texts.push_back(fmt::format("max_split_size_mb:{}", 20 + 11 * texts.size()));
  std::atomic<bool> all_ran{true};
  const double search = seconds_of([&] {
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i = next++; i < texts.size(); i = next++) {
        const auto config = analysis::settings_of(texts[i]);
        if (!config || !analysis::run_scenario(*rehearsal, {*config}, budget)) all_ran = false;
      }
    };
    std::thread second(work);
    work();
    second.join();
    return all_ran.load();
  });
  if (search < 0) return fail_with("the search failed");

  fmt::print("{} events, {} requests\n", recording.events.size_rows(), requests);
  fmt::print("other settings reserve at most         {:10} bytes\n", numbers.peak_reserved);
  fmt::print("run again, other settings              {:10.1f} ms\n", run * 1e3);
  fmt::print("reference: malloc and free alone       {:10.1f} ms\n", alone * 1e3);
  fmt::print("told and repeated                      {:10.1f} ms\n", told * 1e3);
  fmt::print("search of {} settings, 2 threads       {:10.1f} ms\n", texts.size(), search * 1e3);
  fmt::print("kept of a request                      {:10.1f} bytes\n",
             static_cast<double>(kept) / static_cast<double>(std::max<int64_t>(requests, 1)));
  return 0;
}
