// The project's reference cases (tests/data/alloc/reference_cases.jsonl): the behaviour of PyTorch's native
// allocator, event for event, made by an independent model and by PyTorch's own logic over a simulated
// device. Compared as text: keys, order and spelling are part of the interface.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/alloc/memory_summary.h"
#include "engine/answers/text/json_of.h"
#include "engine/answers/what_if/simulation_report.h"
#include "tests/unit/alloc/invariants.h"
#include "tests/unit/answers/collected.h"
#include "tests/unit/files.h"

namespace gpustrata::simulate {
namespace {

struct ReferenceCase {
  std::string id, what, conf, ops, expected;
  int64_t device = 0;
};

std::string data_file(const std::string& name) { return tests::test_path("data/alloc/" + name); }

// The value of a key, up to what follows it; the lines hold no escapes.
std::string between(const std::string& line, const std::string& before, const std::string& after) {
  const size_t from = line.find(before);
  if (from == std::string::npos) return "?";
  const size_t start = from + before.size();
  return line.substr(start, line.find(after, start) - start);
}

std::vector<ReferenceCase> read_cases() {
  std::vector<ReferenceCase> cases;
  std::ifstream file(data_file("reference_cases.jsonl"));
  for (std::string line; std::getline(file, line);) {
    ReferenceCase one;
    one.id = between(line, "\"id\":\"", "\"");
    one.what = between(line, "\"what\":\"", "\"");
    one.device = std::stoll(between(line, "\"device\":", ","));
    one.conf = between(line, "\"conf\":\"", "\"");
    one.ops = between(line, "\"ops\":\"", "\"");
    one.expected = "{" + line.substr(line.find("\"trace\":"));
    one.expected.back() = ',';  // our object goes on
    cases.push_back(one);
  }
  return cases;
}

// GoogleTest would print the bytes, with the addresses of the texts.
void PrintTo(const ReferenceCase& one, std::ostream* out) { *out << one.id; }

class ReferenceCases : public testing::TestWithParam<ReferenceCase> {};

TEST_P(ReferenceCases, GiveTheSameText) {
  const ReferenceCase& one = GetParam();
  Budget budget(int64_t{1} << 28);
  const auto simulation = simulate(one.ops, one.device, one.conf, budget);
  ASSERT_TRUE(simulation.has_value()) << simulation.error().message;
  const std::string report = answers::json_of(*simulation);
  EXPECT_EQ(report.substr(0, one.expected.size()), one.expected) << one.what;

  model::Recording recording(budget);
  const auto script = read_script(one.ops, recording);
  alloc::Config config;
  ASSERT_TRUE(script && alloc::apply_settings(config, one.conf));
  const auto run = Rerun::start(script->requests, config, one.device, recording);
  ASSERT_TRUE(run.has_value());
  while (!(*run)->at_end()) {
    ASSERT_TRUE((*run)->step());
    ASSERT_EQ(alloc::check_invariants((*run)->allocator().state()), "");
    ASSERT_EQ((*run)->allocator().check_pools(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReferenceCases, testing::ValuesIn(read_cases()),
                         [](const auto& test) { return test.param.id; });

TEST(ReferenceCasesFile, HoldsAllOfThem) { EXPECT_EQ(read_cases().size(), 78U); }

TEST(MemorySummary, IsPyTorchsTable) {
  std::ifstream file(data_file("memory_summary_c13.txt"));
  const std::string expected((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Budget budget(int64_t{1} << 28);
  const auto simulation = simulate("m a 2097152; m b 2097152; m c 512; f a; f c; empty", 1 << 30, "", budget);
  ASSERT_TRUE(simulation.has_value());
  const alloc::MemoryStats& stats = simulation->outcome.stats;
  EXPECT_EQ(alloc::memory_summary(stats, 0), expected);
  // Without the rows of the pools: 2 * 9 fewer lines of 77 characters and the line's end.
  EXPECT_EQ(alloc::memory_summary(stats, 0, true).size(), expected.size() - 18 * 78);
}

TEST(MemorySummary, TakesTheUnitFromTheRowOfAllPools) {
  alloc::MemoryStats stats;
  stats.allocated_bytes.increase(true, 1023);
  // Together 768 MiB: a step up from KiB, not yet GiB.
  stats.allocated_bytes.increase(false, (int64_t{768} << 20) - 1023);
  stats.allocation.increase(false, 750'000);  // 750 K
  const std::string text = alloc::memory_summary(stats, 3);
  EXPECT_NE(text.find("device ID 3"), std::string::npos);
  EXPECT_NE(text.find("| Allocated memory      |    768 MiB |"), std::string::npos) << text;
  EXPECT_NE(text.find("|       from small pool |      0 MiB |"), std::string::npos) << text;
  EXPECT_NE(text.find("| Allocations           |     750 K  |"), std::string::npos) << text;
}

TEST(Report, HasAllKeysOfMemoryStats) {
  Budget budget(int64_t{1} << 28);
  const auto json = answers::simulate_json("m a 1", 1 << 30, "max_split_size_mb:40", budget);
  ASSERT_TRUE(json.has_value());
  const size_t stats = json->find("\"stats\":{");
  const size_t end = json->find('}', stats);
  EXPECT_EQ(std::count(json->begin() + static_cast<ptrdiff_t>(stats),
                       json->begin() + static_cast<ptrdiff_t>(end), ','),
            122);  // 123 keys
  EXPECT_NE(json->find("\"allocated_bytes.small_pool.peak\":512,"), std::string::npos);
  EXPECT_NE(json->find("\"max_split_size\":41943040,"), std::string::npos);
  EXPECT_NE(json->find("\"num_oom_rejections\":0,"), std::string::npos);
  EXPECT_NE(json->find("\"results\":[{\"line\":1,\"step\":\"m a 1\",\"place\":\"S0+0\",\"size\":512}]}"),
            std::string::npos);
}

TEST(Report, TextShowsStepsSegmentsAndTheSummary) {
  Budget budget(int64_t{1} << 28);
  const auto simulation = simulate("m a 41943040\nm b 31457280\nf b", 64 << 20, "", budget);
  ASSERT_TRUE(simulation.has_value());
  const std::string text = answers::text_of_answer(*simulation);
  EXPECT_NE(text.find("1  m a 41943040  S0+0, block of 40.0 MiB (41,943,040 bytes)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("CUDA out of memory. Tried to allocate 30.00 MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("3  f b           ignored"), std::string::npos) << text;
  EXPECT_NE(text.find("  S0+0 L@0: A41943040\n"), std::string::npos) << text;
  EXPECT_NE(text.find("CUDA OOMs: 1"), std::string::npos);
}

}  // namespace
}  // namespace gpustrata::simulate
