// Scripts and settings: the first line is the settings, the rest the steps. On any bytes: a report, or an
// error with a sentence; the books agree after every script.
#include <cstdlib>
#include <string_view>

#include "engine/answers/text/json_of.h"
#include "engine/answers/what_if/simulation_report.h"
#include "tests/unit/alloc/invariants.h"
#include "tests/unit/answers/collected.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpustrata;
  constexpr size_t kLongest = 20'000;  // some steps cost time in the number of blocks
  const std::string_view input(reinterpret_cast<const char*>(data), size < kLongest ? size : kLongest);
  const size_t line = input.find('\n');
  const std::string_view conf = input.substr(0, line);
  const std::string_view script = line == std::string_view::npos ? "" : input.substr(line + 1);
  Budget budget(int64_t{1} << 27);
  constexpr int64_t kDevice = int64_t{256} << 20;
  const auto simulation = simulate::simulate(script, kDevice, conf, budget);
  if (!simulation) {
    if (simulation.error().message.empty()) std::abort();
    if (simulate::check_usage(kDevice, conf) && simulation.error().code == ErrorCode::wrong_usage &&
        simulation.error().message.rfind("line ", 0) != 0)
      std::abort();
    return 0;
  }
  if (answers::json_of(*simulation).empty() || answers::text_of_answer(*simulation).empty()) std::abort();

  // Once more, for the books.
  model::Recording recording(budget);
  const auto again = simulate::read_script(script, recording);
  alloc::Config config;
  if (!again || !alloc::apply_settings(config, conf)) return 0;  // no memory for both
  const auto run = simulate::Rerun::start(again->requests, config, kDevice, recording);
  if (!run || !(*run)->run_to_end()) return 0;
  if (!alloc::check_invariants((*run)->allocator().state()).empty()) std::abort();
  if (!(*run)->allocator().check_pools().empty()) std::abort();
  return 0;
}
