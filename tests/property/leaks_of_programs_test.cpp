// Simulated programs that leak in one place or nowhere: what is said is what was planted. GPUSTRATA_ROUNDS: so many times
// as many of them.
#include "engine/analysis/steps/leaks.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/analysis/steps/steps.h"
#include "tests/property/simulated_program.h"
#include "tests/unit/analysis/opened_story.h"

namespace gpustrata::analysis {
namespace {

[[nodiscard]] uint64_t rounds() {
  const char* const factor = std::getenv("GPUSTRATA_ROUNDS");
  return 100 * (factor == nullptr ? 1 : std::strtoull(factor, nullptr, 10));
}

struct Said {
  Steps steps;
  Leaks leaks;
};

[[nodiscard]] Said said_of(SimulatedProgram& program) {
  const OpenedStory opened(program.story());
  const replay::DeviceRows rows = replay::rows_of(opened.part(), replay::HandTrace::kDevice);
  auto steps = find_steps(opened.recording, opened.part(), rows, *opened.lifetimes);
  EXPECT_TRUE(steps.has_value());
  const auto attributes = block_attributes(opened.recording, opened.part(), *opened.lifetimes);
  EXPECT_TRUE(attributes.has_value());
  auto leaks = find_leaks(opened.recording, *opened.lifetimes, attributes->stack, *steps);
  EXPECT_TRUE(leaks.has_value());
  return {std::move(*steps), std::move(*leaks)};
}

TEST(LeaksOfPrograms, WhatIsPlantedIsFoundExactly) {
  for (uint64_t seed = 0; seed < rounds(); ++seed) {
    SimulatedProgram program(seed, true);
    const auto [steps, leaks] = said_of(program);
    const Truth& truth = program.truth();
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", planted "
                                    << static_cast<int>(program.planted()));
    EXPECT_EQ(steps.from, StepsFrom::loop);
    EXPECT_EQ(steps.count(), truth.steps);
    EXPECT_EQ(leaks.leaks.size(), 1U);
    if (leaks.leaks.empty()) continue;
    EXPECT_EQ(leaks.leaks[0].live_bytes, truth.bytes);
    EXPECT_EQ(leaks.leaks[0].steps, truth.growths);
  }
}

TEST(LeaksOfPrograms, WhatGivesAllBackHasNone) {
  for (uint64_t seed = 0; seed < rounds(); ++seed) {
    SimulatedProgram program(uint64_t{1} << 32 | seed, false);
    const auto [steps, leaks] = said_of(program);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    EXPECT_EQ(steps.count(), program.truth().steps);
    EXPECT_TRUE(leaks.leaks.empty());
  }
}

}  // namespace
}  // namespace gpustrata::analysis
