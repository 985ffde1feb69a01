#include "engine/cli/simulate_command.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/cli/exit_codes.h"
#include "engine/cli/input.h"
#include "engine/cli/output_file.h"
#include "engine/io/writers/recorded_dump.h"
#include "engine/simulate/report.h"

namespace memstrata::cli {

namespace {

constexpr size_t kLongestScript = size_t{256} << 20;

// A simulation has no time: events count.
class StepClock final : public trace::Clock {
 public:
  [[nodiscard]] int64_t now_us() override { return ++events_; }

 private:
  int64_t events_ = 0;
};

// The step as the only frame of a stack.
[[nodiscard]] alloc::Origin origin_of(const simulate::Step& step, const std::string& file,
                                      trace::Recorder& recorder) {
  constexpr size_t kLongestName = 200;
  const auto line = static_cast<int32_t>(std::min<int64_t>(step.line, INT32_MAX));
  const FrameId frame = recorder.frame(step.text.substr(0, kLongestName), file, line);
  return {recorder.stack({&frame, 1}), {}};
}

[[nodiscard]] Outcome<int64_t> write_dump(const SimulateOptions& options, const trace::Recorder& recorder,
                                          alloc::DeviceAllocator& allocator, const Console& console) {
  return write_output(options.dump, {&options.script, 1}, console, [&](io::ByteSink& sink) -> Outcome<void> {
    alloc::DeviceAllocator* const all[] = {&allocator};
    const Status dumped = io::dump_snapshot(recorder, all, console.budget_bytes, sink);
    return dumped ? Outcome<void>() : failure(dumped.error(), options.dump);
  });
}

// With --json in words, too: who reads the results line by line sees a step that is wrong.
int fail_with(const Failure& failed, int exit_code, const SimulateOptions& options, const Console& console) {
  if (options.json) (void)tell(failed, true, console);
  (void)tell(failed, false, console);
  return exit_code;
}

}  // namespace

int run_simulate(const SimulateOptions& options, const Console& console) {
  // Settings first: they are wrong usage, whatever the script says.
  Budget budget(console.budget_bytes);
  StepClock clock;
  trace::Recorder recorder(clock, budget);
  const bool records = !options.dump.empty();
  if (records) (void)recorder.record_memory_history({});
  const auto simulation = simulate::Simulation::make(options.device_bytes, options.conf, budget,
                                                     records ? &recorder.device(0) : nullptr);
  if (!simulation)
    return fail_with(failure(simulation.error(), options.script).value(), kWrongUsage, options, console);
  if (records) {
    (*simulation)->set_origins([&](const simulate::Step& step) {
      return origin_of(step, options.script, recorder);
    });
  }
  const auto script = read_text(options.script, kLongestScript, "a script");
  if (!script) return fail_with(script.error(), kFailed, options, console);
  if (auto status = (*simulation)->run(*script); !status)
    return fail_with(failure(status.error(), options.script).value(), kFailed, options, console);
  // Made before the dump: a snapshot adds its event to the trace.
  const std::string report =
      options.json ? simulate::report_json(**simulation) + "\n" : simulate::report_text(**simulation);
  if (records) {
    if (auto dumped = write_dump(options, recorder, (*simulation)->allocator(), console); !dumped)
      return fail_with(dumped.error(), dumped.error().exit_code(), options, console);
  }
  // Standard output is the dump's if it was asked for.
  io::ByteSink& out = options.dump == "-" ? console.notes : console.out;
  return out.write(io::bytes_of(report)) ? kSuccess : tell_unwritten(console);
}

}  // namespace memstrata::cli
