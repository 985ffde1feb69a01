// The allocator for JavaScript: a script run on a simulated device, see engine/answers/what_if/simulation_report.h.
#include <emscripten/bind.h>

#include <cstdint>
#include <string>

#include "engine/answers/what_if/simulation_report.h"
#include "engine/base/budget.h"
#include "wasm/answer_text.h"

namespace {

std::string simulate(const std::string& script, double device_bytes, const std::string& conf) {
  constexpr int64_t kBudget = int64_t{1} << 30;
  gpustrata::Budget budget(kBudget);
  // Out of the range of int64 the conversion would be undefined.
  const bool whole = device_bytes >= 0 && device_bytes <= static_cast<double>(int64_t{1} << 53);
  return gpustrata::wasm::text_of(gpustrata::answers::simulate_json(
      script, whole ? static_cast<int64_t>(device_bytes) : -1, conf, budget));
}

}  // namespace

EMSCRIPTEN_BINDINGS(simulate) { emscripten::function("simulate", &simulate); }
