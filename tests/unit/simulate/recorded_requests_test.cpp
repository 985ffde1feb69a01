#include "engine/simulate/recorded_requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "engine/simulate/simulation.h"
#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::simulate {
namespace {

// Events of a part as text: "alloc S0+512 1000".
[[nodiscard]] std::vector<std::string> events_of(const model::Recording& recording, const model::Part& part,
                                                 const Outcome& outcome) {
  std::vector<std::string> lines;
  const model::RowRange range = part.events_of(0);
  for (auto row = static_cast<size_t>(range.first); row < static_cast<size_t>(range.end()); ++row) {
    const auto action = recording.events.action[row];
    const uint64_t address = recording.events.address[row];
    lines.push_back(std::string(trace::name_of(action)) + " " +
                    (action == trace::Action::oom ? std::to_string(address) : outcome.place_of(address)) +
                    " " + std::to_string(recording.events.size[row]) + " @" +
                    std::to_string(recording.streams[recording.events.stream[row].index()]));
  }
  return lines;
}

// Of a recording that has its beginning.
[[nodiscard]] Result<RecordedRequests> tell(const model::Recording& recording, const model::Part& part,
                                            Budget& budget, const std::string& conf = "",
                                            int64_t known_capacity = 0) {
  TellOptions options;
  EXPECT_TRUE(alloc::apply_settings(options.config, conf));
  options.capacity = known_capacity;
  return recorded_requests(recording, part, 0, StartLayout(budget), options, budget);
}

class RecordedRequestsOf {
 public:
  explicit RecordedRequestsOf(const std::string& script, const std::string& conf = "",
                              int64_t device = 1 << 30, int64_t known_capacity = 0)
      : simulation(simulate(script, device, conf, budget)),
        requests(
            tell(*simulation->recording, simulation->recording->parts[0], budget, conf, known_capacity)) {
    EXPECT_TRUE(requests.has_value());
    const model::Recording& recording = *simulation->recording;
    before = events_of(recording, recording.parts[0], simulation->outcome);
  }
  // The events of the same requests run again.
  [[nodiscard]] std::vector<std::string> again(int64_t device, const std::string& conf = "") {
    alloc::Config config;
    EXPECT_TRUE(alloc::apply_settings(config, conf));
    model::Recording& recording = *simulation->recording;
    const auto outcome = rerun(requests->log, config, device, recording);
    EXPECT_TRUE(outcome.has_value()) << (outcome ? "" : outcome.error().message);
    return outcome ? events_of(recording, recording.parts.back(), *outcome) : std::vector<std::string>();
  }
  [[nodiscard]] int64_t guesses(Guess guess) const { return requests->guesses_of(guess); }

  Budget budget{int64_t{1} << 28};
  Result<Simulation> simulation;
  Result<RecordedRequests> requests;
  std::vector<std::string> before;
};

TEST(RecordedRequests, APlainRunNeedsNoGuess) {
  RecordedRequestsOf run("m a 1000; m b 3000000 7; f a; m c 500; f b; snap; f c");
  EXPECT_EQ(run.requests->log.size_rows(), 7U);
  for (const int64_t count : run.requests->guesses) EXPECT_EQ(count, 0);
  EXPECT_EQ(run.again(1 << 30), run.before);
  EXPECT_EQ(run.requests->least_capacity, 22 * kMiB);
  EXPECT_EQ(run.requests->most_capacity, INT64_MAX);
}

TEST(RecordedRequests, ALateCompletionIsAnotherStreamsUse) {
  RecordedRequestsOf run("m a 1000; rs a 3; f a; m b 1000; done 3; m c 1000; m d 1; rs d 9; f d");
  EXPECT_EQ(run.guesses(Guess::other_streams), 2);  // of a and, never completed, of d
  EXPECT_EQ(run.again(1 << 30), run.before);
}

TEST(RecordedRequests, AnEmptiedCacheIsToldFromAFullDevice) {
  RecordedRequestsOf emptied("m a 31457280; f a; empty; m b 512; m c 41943040; f c; m d 52428800");
  EXPECT_EQ(emptied.guesses(Guess::emptied_caches), 1);
  EXPECT_EQ(emptied.guesses(Guess::device_limits), 0);
  EXPECT_EQ(emptied.again(1 << 30), emptied.before);

  // On 64 MiB the second block needs what the first left.
  RecordedRequestsOf full("m a 31457280; f a; m b 41943040", "", 64 * kMiB);
  EXPECT_EQ(full.guesses(Guess::device_limits), 1);
  EXPECT_EQ(full.guesses(Guess::emptied_caches), 0);
  EXPECT_EQ(full.requests->least_capacity, 40 * kMiB);
  EXPECT_EQ(full.requests->most_capacity, 70 * kMiB - 1);
  EXPECT_EQ(full.again(64 * kMiB), full.before);
  EXPECT_EQ(full.again(full.requests->least_capacity), full.before);
  // With room there is no need to give anything back.
  EXPECT_EQ(full.again(128 * kMiB).size(), full.before.size() - 1);

  // The device had room: somebody emptied the cache just before.
  RecordedRequestsOf roomy("m a 62914560; f a; empty; m b 20971520; m c 62914560", "", 1 << 30);
  EXPECT_EQ(roomy.guesses(Guess::emptied_caches), 1);
  EXPECT_EQ(roomy.again(1 << 30), roomy.before);
}

TEST(RecordedRequests, AnErrorTellsHowLargeTheDeviceIs) {
  RecordedRequestsOf run("m a 41943040; m b 41943040; f a; m c 1000", "", 64 * kMiB);
  EXPECT_EQ(run.guesses(Guess::failed_sizes), 1);
  EXPECT_EQ(run.requests->most_capacity, 64 * kMiB);
  EXPECT_EQ(run.again(64 * kMiB), run.before);
}

// A page of 20 MiB was wanted for 3 MiB, and 4 MiB were left: no limit.
TEST(RecordedRequests, AnExpandableSegmentWantsWholePages) {
  RecordedRequestsOf run("m a 20971520; m b 20971520; m c 3145728", "expandable_segments:True", 44 * kMiB);
  EXPECT_EQ(run.guesses(Guess::failed_sizes), 1);
  EXPECT_EQ(run.requests->most_capacity, 44 * kMiB);
}

TEST(RecordedRequests, WhoMadeASegmentIsWhoMadeItLast) {
  // "train" had a segment, gave it back by "empty", and "eval" made one in its place. It is given back with the stack of
  // "train", which asks for more right behind: the allocator did that. Had "train" made it, nothing would tell, and as the
  // device has room it would be an emptied cache.
  using trace::Action;
  analysis::Story story;
  const auto add = [&](Action action, uint64_t address, int64_t mebibytes, std::string_view name) {
    story.event(action, address, mebibytes * kMiB);
    story.frames({name});
  };
  add(Action::segment_alloc, 0x10000000, 40, "train");
  add(Action::segment_free, 0x10000000, 40, "empty");
  add(Action::segment_alloc, 0x10000000, 40, "eval");
  add(Action::segment_free, 0x10000000, 40, "train");
  add(Action::segment_alloc, 0x40000000, 60, "train");
  ASSERT_TRUE(story.stored());
  model::Part& part = story.recording.parts[0];
  part.traces = {{0, {0, 5}}};
  const auto told = tell(story.recording, part, story.budget, "", 1024 * kMiB);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->guesses_of(Guess::emptied_caches), 1);
  EXPECT_EQ(told->guesses_of(Guess::device_limits), 1);
  EXPECT_EQ(told->unclear, 0);
}

TEST(RecordedRequests, PrivatePoolsAreRoutedToAndReleased) {
  RecordedRequestsOf run(
      "begin 0 1; m a 1000; m b 3000000; end 0 1; m c 500; f a; f b; release 0 1; empty; m d 1; f d");
  EXPECT_EQ(run.requests->log.pools.size(), 1U);
  EXPECT_EQ(run.guesses(Guess::pool_releases), 1);
  EXPECT_EQ(run.again(1 << 30), run.before);
}

TEST(RecordedRequests, WhatIsInNoKnownSegmentIsAskedForFirst) {
  RecordedRequestsOf run("m a 1000; m b 2000; f a; f b; m c 3000");
  model::Recording& recording = *run.simulation->recording;
  model::Part part = recording.parts[0];
  part.traces[0].events = {3, 5};  // a ring that lost segment_alloc and the allocs of a and b
  const auto late = tell(recording, part, run.budget);
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->guesses_of(Guess::unplaced_blocks), 2);
  ASSERT_EQ(late->log.size_rows(), 5U);  // both, their frees, and c
  EXPECT_EQ(late->log.size[0], 1000);
  EXPECT_EQ(late->log.size[1], 2000);
  EXPECT_EQ(late->log.subject[3], 1);
  EXPECT_EQ(late->event[0], -1);
  EXPECT_EQ(late->event[2], 3);
  EXPECT_EQ(late->present, 2);
  // A block that lives to the end without an alloc.
  part.traces[0].events = {8, 0};
  const auto nothing = tell(recording, part, run.budget);
  ASSERT_TRUE(nothing.has_value());
  ASSERT_EQ(nothing->log.size_rows(), 1U);
  EXPECT_EQ(nothing->log.size[0], 3000);
}

TEST(RecordedRequests, AFlushThatFreesNothingIsSeenByItsCompletions) {
  RecordedRequestsOf run("m a 1000; m b 1000; m c 1; rs a 1; f a; f b; empty; f c");
  EXPECT_EQ(run.guesses(Guess::emptied_caches), 1);
  EXPECT_EQ(run.again(1 << 30), run.before);
}

// Scripts of all kinds of steps, run again as they were recorded.
TEST(RecordedRequests, RandomRunsRepeatExactly) {
  const std::vector<std::string> settings = {"", "expandable_segments:True", "max_split_size_mb:40",
                                             "roundup_power2_divisions:4"};
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const int64_t device = 8192 * kMiB;  // never full: how a full one is made room on has several readings
    std::mt19937 random(seed);
    const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
    std::string script;
    std::vector<std::string> held;
    int names = 0;
    for (int step = 0; step < 200; ++step) {
      const uint32_t kind = below(100);
      if (kind < 3) {
        script += "empty\n";
      } else if (kind < 8) {
        script += "done " + std::to_string(below(3)) + "\n";
      } else if (kind < 14 && !held.empty()) {
        script += "rs " + held[below(static_cast<uint32_t>(held.size()))] + " " +
                  std::to_string(1 + below(2)) + "\n";
      } else if (kind < 60 || held.empty()) {
        held.push_back("t" + std::to_string(names++));
        script += "m " + held.back() + " " + std::to_string(1 + (int64_t{1} << below(26))) + " " +
                  std::to_string(below(3)) + "\n";
      } else {
        const uint32_t at = below(static_cast<uint32_t>(held.size()));
        script += "f " + held[at] + "\n";
        held.erase(held.begin() + at);
      }
    }
    const std::string& conf = settings[seed % settings.size()];
    RecordedRequestsOf run(script, conf, device, device);
    const std::vector<std::string> again = run.again(device, conf);
    const auto [one, other] = std::mismatch(run.before.begin(), run.before.end(), again.begin(), again.end());
    ASSERT_TRUE(one == run.before.end() && other == again.end())
        << "seed " << seed << ", " << conf << ": event " << one - run.before.begin() << " of "
        << run.before.size() << " is " << (one == run.before.end() ? "none" : *one) << ", run again "
        << (other == again.end() ? "none" : *other) << "\n"
        << script;
  }
}

}  // namespace
}  // namespace gpustrata::simulate
