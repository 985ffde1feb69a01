#include "engine/simulate/simulation.h"

#include <fmt/core.h>

#include <utility>

namespace gpustrata::simulate {

Error error_of_step(const Script& script, size_t request, const Error& error) {
  const Script::Place& place = script.places[request];
  return {error.code, fmt::format("line {}: {}", place.line, error.message), place.offset};
}

Status check_usage(int64_t device_bytes, std::string_view conf) {
  if (auto status = check_capacity(device_bytes); !status) return status;
  alloc::Config config;
  return alloc::apply_settings(config, conf);
}

Result<Simulation> simulate(std::string_view text, int64_t device_bytes, std::string_view conf,
                            Budget& budget, std::string_view file) {
  if (auto status = check_usage(device_bytes, conf); !status) return tl::unexpected(status.error());
  alloc::Config config;
  (void)alloc::apply_settings(config, conf);
  Simulation simulation(budget);
  auto script = read_script(text, *simulation.recording, file);
  if (!script) return tl::unexpected(script.error());
  simulation.script = std::move(*script);
  const auto run = Rerun::start(simulation.script.requests, config, device_bytes, *simulation.recording);
  if (!run) return tl::unexpected(run.error());
  if (auto status = (*run)->run_to_end(); !status)
    return tl::unexpected(error_of_step(simulation.script, (*run)->at(), status.error()));
  auto outcome = (*run)->finish();
  if (!outcome) return tl::unexpected(outcome.error());
  simulation.outcome = std::move(*outcome);
  simulation.recording->format = "simulated";
  simulation.recording->seal();
  return simulation;
}

}  // namespace gpustrata::simulate
