// Scripts and settings: the first line is the settings, the rest the steps. On any bytes: a report, or an
// error with a sentence; the books agree after every script.
#include <cstdlib>
#include <string_view>

#include "engine/alloc/invariants.h"
#include "engine/simulate/report.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace memstrata;
  constexpr size_t kLongest = 20'000;  // some steps cost time in the number of blocks
  const std::string_view input(reinterpret_cast<const char*>(data), size < kLongest ? size : kLongest);
  const size_t line = input.find('\n');
  const std::string_view conf = input.substr(0, line);
  const std::string_view script = line == std::string_view::npos ? "" : input.substr(line + 1);
  Budget budget(int64_t{1} << 27);
  const auto simulation = simulate::Simulation::make(int64_t{256} << 20, conf, budget);
  if (!simulation) {
    if (simulation.error().message.empty()) std::abort();
    return 0;
  }
  const Status status = (*simulation)->run(script);
  if (!status && status.error().message.rfind("line ", 0) != 0) std::abort();
  if (!alloc::check_invariants((*simulation)->allocator().state()).empty()) std::abort();
  if (!(*simulation)->allocator().check_pools().empty()) std::abort();
  if (simulate::report_json(**simulation).empty() || simulate::report_text(**simulation).empty())
    std::abort();
  return 0;
}
