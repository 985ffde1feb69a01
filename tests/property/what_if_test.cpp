// What a program asks for under settings A is recorded, told from the recording and run under B: that must be what the
// same program does under B from the start. And every recording repeats exactly, also one that lost its beginning.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/analysis/what_if/what_if.h"
#include "engine/simulate/simulation.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

// Scripts, and settings to run them under. What a trace does not show is left out: settings that change on the way,
// caches emptied that held nothing.
class Program {
 public:
  explicit Program(uint32_t seed) : random_(seed) {}

  [[nodiscard]] uint32_t below(uint32_t count) { return static_cast<uint32_t>(random_() % count); }
  [[nodiscard]] std::string settings() {
    static const char* const kTexts[] = {"",
                                         "expandable_segments:True",
                                         "max_split_size_mb:40",
                                         "max_split_size_mb:128,max_non_split_rounding_mb:64",
                                         "roundup_power2_divisions:4",
                                         "roundup_power2_divisions:[64:8,256:2,>:1]",
                                         "large_segment_size_mb:64",
                                         "expandable_segments:True,roundup_power2_divisions:8",
                                         "expandable_segments:True,max_split_size_mb:64",
                                         "roundup_power2_divisions:16,max_split_size_mb:200",
                                         "large_segment_size_mb:32,max_split_size_mb:100",
                                         "expandable_segments:True,large_segment_size_mb:64",
                                         "roundup_power2_divisions:[1:4,16:2,256:8,>:1]"};
    return kTexts[below(std::size(kTexts))];
  }
  // Begins with the order of free blocks that some version has.
  [[nodiscard]] std::vector<std::string> steps(int count, bool streams) {
    static const char* const kOrders[] = {"order address", "order block_number", "order segment_age"};
    std::vector<std::string> steps{kOrders[below(3)]};
    std::vector<std::string> held;     // of the default pool
    std::vector<std::string> of_pool;  // of the private one
    const bool pools = below(2) == 0;
    int names = 0, pool = 0;
    bool routed = false;
    const auto take = [&](std::vector<std::string>& from) {
      const size_t at = below(static_cast<uint32_t>(from.size()));
      const std::string name = from[at];
      from.erase(from.begin() + static_cast<ptrdiff_t>(at));
      return name;
    };
    const auto end_pool = [&] {
      steps.push_back(fmt::format("end 0 {}", pool));
      routed = false;
      while (!of_pool.empty()) steps.push_back("f " + take(of_pool));
      steps.push_back(fmt::format("release 0 {}", pool));
      steps.emplace_back("empty");
    };
    for (int i = 0; i < count; ++i) {
      const uint32_t kind = below(100);
      if (kind < 3 && !routed) {
        steps.emplace_back("empty");
      } else if (kind < 8 && streams) {
        steps.push_back(fmt::format("done {}", below(4)));
      } else if (kind < 14 && streams && !routed && !held.empty()) {
        steps.push_back(
            fmt::format("rs {} {}", held[below(static_cast<uint32_t>(held.size()))], 1 + below(3)));
      } else if (kind < 16 && pools) {
        if (routed) {
          end_pool();
        } else {
          steps.push_back(fmt::format("begin 0 {}", ++pool));
          routed = true;
        }
      } else if (kind < 18) {
        steps.emplace_back("snap");
      } else if (kind < 60 || (held.empty() && of_pool.empty())) {
        const std::string name = fmt::format("t{}", names++);
        const int64_t size = 1 + below(3) * 511 + (int64_t{1} << below(28)) + below(1000);
        steps.push_back(fmt::format("m {} {} {}", name, size, streams ? below(3) : 0));
        (routed ? of_pool : held).push_back(name);
      } else if (!held.empty() && (of_pool.empty() || below(2) == 0)) {
        steps.push_back("f " + take(held));
      } else {
        steps.push_back("f " + take(of_pool));
      }
    }
    if (routed) end_pool();
    return steps;
  }

 private:
  std::mt19937 random_;
};

[[nodiscard]] std::string text_of(const std::vector<std::string>& steps) {
  std::string text;
  for (const std::string& step : steps) text += step + "\n";
  return text;
}

// Without caches emptied that give nothing back under these settings: nobody can see them. `ends_at_failure`: with the first request
// that fails.
[[nodiscard]] std::string visible(const std::vector<std::string>& steps, const std::string& conf,
                                  int64_t device, Budget& budget, bool ends_at_failure = false) {
  model::Recording recording(budget);
  const std::string all = text_of(steps);
  const auto script = simulate::read_script(all, recording);
  alloc::Config config;
  EXPECT_TRUE(script && alloc::apply_settings(config, conf));
  const auto run = simulate::Rerun::start(script->requests, config, device, recording);
  std::vector<std::string> kept;
  for (const std::string& step : steps) {
    const int64_t before = (*run)->allocator().stats().num_device_free;
    EXPECT_TRUE((*run)->step());
    if (step != "empty" || (*run)->allocator().stats().num_device_free > before) kept.push_back(step);
    if (ends_at_failure && (*run)->allocator().stats().num_ooms > 0) break;
  }
  return text_of(kept);
}

// Segments and blocks of a part in the order of their addresses: how far apart those are depends on how large the device
// is that pages are reserved for.
[[nodiscard]] std::string layout_of(const model::Recording& recording, const model::Part& part) {
  std::string text;
  for (int32_t row = part.segments.first; row < part.segments.end(); ++row) {
    const model::SegmentTable& segments = recording.segments;
    text +=
        fmt::format("{} @{} {}:", segments.total_size[row], recording.streams[segments.stream[row].index()],
                    static_cast<int>(segments.type[row]));
    for (int32_t block = segments.blocks[row].first; block < segments.blocks[row].end(); ++block)
      text += fmt::format(" {}{}", "AP-?"[static_cast<int>(recording.blocks.state[block])],
                          recording.blocks.size[block]);
    text += "\n";
  }
  return text;
}

class Recorded {
 public:
  Recorded(const std::string& script, int64_t device, const std::string& conf, int32_t lost = 0)
      : simulation(simulate::simulate(script, device, conf, budget, "script")) {
    EXPECT_TRUE(simulation.has_value());
    model::Part part = simulation->recording->parts[0];
    model::RowRange& events = part.traces[0].events;
    lost = std::min(lost, events.count);
    events = {events.first + lost, events.count - lost};
    opened = std::move(*replay::Device::open(*simulation->recording, part, 0));
    rehearsal = std::make_unique<Result<Rehearsal>>(rehearse(*opened, budget));
  }
  Budget budget{int64_t{1} << 30};
  Result<simulate::Simulation> simulation;
  std::unique_ptr<replay::Device> opened;
  std::unique_ptr<Result<Rehearsal>> rehearsal;
};

[[nodiscard]] int rounds(int usual) {
  const char* const given = std::getenv("GPUSTRATA_WHAT_IF_ROUNDS");  // more of them by hand
  return given == nullptr ? usual : std::atoi(given);
}

void expect_as_direct(const std::string& script, const std::string& recorded_conf, int64_t recorded_device,
                      const std::string& conf, int64_t device, uint32_t seed) {
  const Recorded a(script, recorded_device, recorded_conf);
  const std::string about = fmt::format("seed {}, '{}' on {} told from '{}' on {}\n{}", seed, conf, device,
                                        recorded_conf, recorded_device, script);
  ASSERT_TRUE(a.rehearsal->has_value()) << about;
  const Rehearsal& rehearsal = **a.rehearsal;
  const simulate::Fidelity& fidelity = rehearsal.fidelity;
  ASSERT_TRUE(fidelity.is_exact()) << fidelity.first_deviation << " " << about;
  ASSERT_EQ(fidelity.reserved_error_bytes, 0) << about;

  Budget budget(int64_t{1} << 30);
  const auto direct = simulate::simulate(script, device, conf, budget);
  ASSERT_TRUE(direct.has_value()) << about;
  const auto config = settings_of(conf);
  ASSERT_TRUE(config.has_value());
  const Scenario scenario{*config, device};
  const auto told = run_scenario(rehearsal, scenario, budget);
  ASSERT_TRUE(told.has_value()) << told.error().message << about;
  const alloc::MemoryStats& stats = direct->outcome.stats;
  EXPECT_EQ(told->peak_reserved, stats.reserved_bytes.all().peak) << about;
  EXPECT_EQ(told->peak_allocated, stats.allocated_bytes.all().peak) << about;
  EXPECT_EQ(told->peak_active, stats.active_bytes.all().peak) << about;
  EXPECT_EQ(told->end_reserved, stats.reserved_bytes.all().current) << about;
  EXPECT_EQ(told->device_allocs, stats.num_device_alloc) << about;
  EXPECT_EQ(told->device_frees, stats.num_device_free) << about;
  EXPECT_EQ(told->alloc_retries, stats.num_alloc_retries) << about;
  EXPECT_EQ(told->ooms, stats.num_ooms) << about;
  ASSERT_TRUE(record_scenario(rehearsal, scenario, *a.simulation->recording)) << about;
  const model::Recording& recording = *a.simulation->recording;
  ASSERT_EQ(layout_of(recording, recording.parts.back()),
            layout_of(*direct->recording, direct->recording->parts[0]))
      << about;
}

TEST(WhatIf, ARecordingUnderOneSettingTellsWhatAnotherDoes) {
  for (int seed = 0; seed < rounds(30); ++seed) {
    Program program(static_cast<uint32_t>(seed));
    const std::string a = program.settings(), b = program.settings();
    const int64_t device = 16384 * kMiB;
    Budget budget(int64_t{1} << 30);
    const std::string script = visible(program.steps(120, true), a, device, budget);
    // B on the same device, or on one that is short of memory.
    const int64_t other = program.below(2) == 0 ? device : (256 + program.below(1024)) * kMiB;
    expect_as_direct(script, a, device, b, other, static_cast<uint32_t>(seed));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

// A device that is full and makes room: nothing is out of memory, one stream.
TEST(WhatIf, AFullDeviceIsToldFromItsStacks) {
  int full = 0;
  for (int seed = 0; seed < rounds(30); ++seed) {
    Program program(static_cast<uint32_t>(seed));
    const std::string a = program.settings(), b = program.settings();
    // Where new pages go depends on how large the device is, which nothing says.
    if (a.find("expandable") != std::string::npos) continue;
    Budget budget(int64_t{1} << 30);
    const std::vector<std::string> steps = program.steps(120, false);
    const auto roomy = simulate::simulate(text_of(steps), 16384 * kMiB, a, budget);
    ASSERT_TRUE(roomy.has_value());
    const int64_t device =
        roomy->outcome.stats.reserved_bytes.all().peak - (1 + program.below(64)) * 2 * kMiB;
    if (device <= 0) continue;
    const std::string script = visible(steps, a, device, budget);
    const auto run = simulate::simulate(script, device, a, budget);
    ASSERT_TRUE(run.has_value());
    if (run->outcome.stats.num_ooms > 0) continue;
    full += run->outcome.stats.num_alloc_retries > 0 ? 1 : 0;
    expect_as_direct(script, a, device, b, device, static_cast<uint32_t>(seed));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(full, 0);
}

// A recording that ends at its failure knows the device, and the request that failed only as its settings round it: what is said of
// other settings is so, and what depends on that is not said.
TEST(WhatIf, WhatFailedIsSaidToFitOnlyWhereItDoes) {
  int said = 0, fitting = 0, unknown = 0;
  for (int seed = 0; seed < rounds(120); ++seed) {
    Program program(static_cast<uint32_t>(seed));
    const std::string a = program.settings(), b = program.settings();
    Budget budget(int64_t{1} << 30);
    const std::vector<std::string> steps = program.steps(120, false);
    const auto roomy = simulate::simulate(text_of(steps), 16384 * kMiB, a, budget);
    ASSERT_TRUE(roomy.has_value());
    const int64_t device = roomy->outcome.stats.active_bytes.all().peak - (1 + program.below(16)) * 2 * kMiB;
    if (device <= 0) continue;
    const std::string script = visible(steps, a, device, budget, true);
    const Recorded run(script, device, a);
    const std::string about =
        fmt::format("seed {}, '{}' told from '{}' on {}\n{}", seed, b, a, device, script);
    ASSERT_TRUE(run.rehearsal->has_value()) << about;
    const Rehearsal& rehearsal = **run.rehearsal;
    ASSERT_EQ(rehearsal.recorded.ooms, 1) << about;
    ASSERT_EQ(rehearsal.capacity, device) << about;
    ASSERT_TRUE(rehearsal.fidelity.is_exact()) << about;
    const auto config = settings_of(b);
    ASSERT_TRUE(config.has_value());
    const auto told = run_scenario(rehearsal, {*config, device}, budget);
    ASSERT_TRUE(told.has_value()) << about;
    const auto direct = simulate::simulate(script, device, b, budget);
    ASSERT_TRUE(direct.has_value()) << about;
    const bool does_fit = direct->outcome.stats.num_ooms == 0;
    const std::optional<bool> is_said = fits(rehearsal, *told, device);
    ASSERT_EQ(is_said.value_or(does_fit), does_fit) << about;
    (is_said ? said : unknown) += 1;
    fitting += does_fit ? 1 : 0;
  }
  EXPECT_GT(said, 10 * unknown);
  EXPECT_GT(unknown, 0);
  EXPECT_GT(fitting, 0);
}

TEST(WhatIf, ARecordingThatLostItsBeginningRepeatsExactly) {
  for (int seed = 0; seed < rounds(30); ++seed) {
    Program program(static_cast<uint32_t>(seed));
    const std::string conf = program.settings();
    const std::string script = text_of(program.steps(150, true));
    const auto lost = static_cast<int32_t>(program.below(250));
    const Recorded run(script, 16384 * kMiB, conf, lost);
    if (run.opened->rows.events.count == 0) continue;
    ASSERT_TRUE(run.rehearsal->has_value()) << (*run.rehearsal).error().message;
    const simulate::Fidelity& fidelity = (*run.rehearsal)->fidelity;
    ASSERT_TRUE(fidelity.is_exact() && fidelity.reserved_error_bytes == 0)
        << "seed " << seed << ", " << conf << ", " << lost << " events lost: differs from event "
        << fidelity.first_deviation << ", " << fidelity.same_place << " of " << fidelity.requests << "\n"
        << script;
  }
}

}  // namespace
}  // namespace gpustrata::analysis
