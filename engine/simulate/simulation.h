// A script, read and run: what the command (`gpustrata simulate`) and the page's engine (`simulate()`) ask.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/base/budget.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/simulate/rerun.h"
#include "engine/simulate/script.h"

namespace gpustrata::simulate {

struct Simulation {
  explicit Simulation(Budget& budget)
      : recording(std::make_unique<model::Recording>(budget)), script(budget), outcome(budget) {}

  std::unique_ptr<model::Recording> recording;  // one part: the events and what they led to
  Script script;
  Outcome outcome;
};

// `text` outlives the result. `conf`: settings at the start. With a `file` name the requests have stacks
// (read_script()). Errors: wrong_usage (device size, settings: offset -1; a step: "line N: ..." with its byte offset),
// limit_exceeded.
[[nodiscard]] Result<Simulation> simulate(std::string_view text, int64_t device_bytes, std::string_view conf,
                                          Budget& budget, std::string_view file = {});

// What of that depends on no script. Error: wrong_usage.
[[nodiscard]] Status check_usage(int64_t device_bytes, std::string_view conf);

// The error of a request as that of its step.
[[nodiscard]] Error error_of_step(const Script& script, size_t request, const Error& error);

}  // namespace gpustrata::simulate
