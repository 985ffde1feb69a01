// Random programs with a batch and a length: two recordings give themselves back, and what others are foretold to need is what
// they need when they run.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/analysis/fit/fit.h"
#include "engine/simulate/simulation.h"
#include "tests/property/random.h"

namespace gpustrata::analysis {
namespace {

// What a line of such a program asks for.
struct Line {
  int64_t constant = 0, batch = 0, length = 0, both = 0, square = 0;

  [[nodiscard]] int64_t bytes(int64_t b, int64_t l) const {
    return constant + batch * b + length * l + both * b * l + square * b * l * l;
  }
};

class Program {
 public:
  explicit Program(uint64_t seed) : random_(seed) {
    const int32_t count = 20 + random_.below(200);
    int32_t made = 0;
    std::vector<int32_t> held;
    for (int32_t i = 0; i < count; ++i) {
      if (!held.empty() && random_.below(100) < 45) {
        const auto at = static_cast<size_t>(random_.below(static_cast<int32_t>(held.size())));
        steps_.push_back({-1, held[at]});
        held.erase(held.begin() + static_cast<ptrdiff_t>(at));
      } else {
        held.push_back(made);
        steps_.push_back({static_cast<int32_t>(lines_.size()), made++});
        lines_.push_back(line());
      }
    }
  }

  [[nodiscard]] std::string script(int64_t batch, int64_t length) const {
    std::string text = order_;
    for (const Step& step : steps_) {
      text += step.line < 0 ? fmt::format("f t{}\n", step.block)
                            : fmt::format("m t{} {}\n", step.block,
                                          lines_[static_cast<size_t>(step.line)].bytes(batch, length));
    }
    return text;
  }

 private:
  struct Step {
    int32_t line;  // -1: a free
    int32_t block;
  };
  // One term, as sizes of tensors have.
  [[nodiscard]] Line line() {
    Line line;
    switch (random_.below(6)) {
      case 0:
        line.constant = random_.size(4, 24);
        break;
      case 1:
        line.batch = random_.size(2, 18);
        break;
      case 2:
        line.length = random_.size(2, 12);
        break;
      case 3:
        line.square = 1 + random_.below(8);
        break;
      default:
        line.both = random_.size(2, 10);
    }
    return line;
  }

  Random random_;
  std::vector<Step> steps_;
  std::vector<Line> lines_;
  std::string order_ = random_.one_in(2) ? "order address\n" : "order segment_age\n";
};

constexpr int64_t kDevice = int64_t{1} << 40;

// A run of it, recorded without stacks.
class Recorded {
 public:
  Recorded(const std::string& script, Budget& budget)
      : simulation(simulate::simulate(script, kDevice, "", budget)) {
    EXPECT_TRUE(simulation.has_value());
    opened = std::move(*replay::Device::open(*simulation->recording, simulation->recording->parts[0], 0));
    rehearsal = std::make_unique<Rehearsal>(std::move(*rehearse(*opened, budget)));
  }
  [[nodiscard]] const alloc::MemoryStats& stats() const { return simulation->outcome.stats; }

  Result<simulate::Simulation> simulation;
  std::unique_ptr<replay::Device> opened;
  std::unique_ptr<Rehearsal> rehearsal;
};

void expect_peaks(const Foretold& foretold, const alloc::MemoryStats& stats, const std::string& about) {
  EXPECT_EQ(foretold.peaks.requested, stats.requested_bytes.all().peak) << about;
  EXPECT_EQ(foretold.peaks.reserved, stats.reserved_bytes.all().peak) << about;
  EXPECT_EQ(foretold.peaks.allocated, stats.allocated_bytes.all().peak) << about;
}

TEST(Fit, RecordingsAndOtherRunsAreForetoldToTheByte) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Program program(seed);
    const std::string about = fmt::format("seed {}", seed);
    Budget budget(int64_t{1} << 30);
    const std::vector<Point> points{{2, 16, 1, 1}, {4, 16, 1, 1}, {2, 50, 1, 1}};
    const std::vector<Point> others{{2, 16, 1, 1}, {2, 50, 1, 1}, {9, 128, 1, 1}, {33, 64, 1, 1}};
    std::vector<std::unique_ptr<Recorded>> recorded;
    FitQuestion question;
    question.parameters = {"batch", "length"};
    question.at = others;
    for (const Point& at : points) {
      recorded.push_back(std::make_unique<Recorded>(program.script(at[0], at[1]), budget));
      question.recordings.push_back(
          {fmt::format("batch={},length={}", at[0], at[1]), at, recorded.back()->rehearsal.get()});
    }
    const auto found = fit(question, budget);
    ASSERT_TRUE(found.has_value()) << found.error().message << about;
    EXPECT_EQ(found->unexplained, 0) << about;
    EXPECT_EQ(found->matched.freed_differently, 0) << about;
    for (size_t i = 0; i < others.size(); ++i) {
      const Recorded run(program.script(others[i][0], others[i][1]), budget);
      expect_peaks(found->at[i], run.stats(),
                   fmt::format("{}, at {} and {}", about, others[i][0], others[i][1]));
    }
    if (HasNonfatalFailure()) return;
  }
}

TEST(Fit, TheLargestThatFitsRunsAndTheNextDoesNot) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Program program(seed);
    const std::string about = fmt::format("seed {}", seed);
    Budget budget(int64_t{1} << 30);
    const Recorded small(program.script(3, 20), budget), large(program.script(5, 20), budget);
    FitQuestion question;
    question.parameters = {"batch"};
    question.recordings = {{"batch=3", {3, 1, 1, 1}, small.rehearsal.get()},
                           {"batch=5", {5, 1, 1, 1}, large.rehearsal.get()}};
    question.capacity = large.stats().reserved_bytes.all().peak * 5 + (int64_t{30} << 20);
    const auto found = fit(question, budget);
    ASSERT_TRUE(found.has_value()) << found.error().message << about;
    ASSERT_TRUE(found->largest.has_value()) << about;
    if (found->largest->unbounded) continue;
    const int64_t value = found->largest->value.value_or(0);
    ASSERT_GE(value, 5) << about;
    const auto ooms = [&](int64_t batch) {
      const auto run = simulate::simulate(program.script(batch, 20), question.capacity, "", budget);
      return run ? run->outcome.stats.num_ooms : -1;
    };
    EXPECT_EQ(ooms(value), 0) << about;
    EXPECT_GT(ooms(value + 1), 0) << about;
  }
}

}  // namespace
}  // namespace gpustrata::analysis
