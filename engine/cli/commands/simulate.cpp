// gpustrata simulate SCRIPT|- [--device BYTES] [--conf TEXT] [--json] [--dump FILE]

#include <cstdint>
#include <string>

#include "engine/answers/text/json_of.h"
#include "engine/answers/what_if/simulation_report.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input/input.h"
#include "engine/cli/options.h"
#include "engine/cli/output/output_file.h"
#include "engine/io/writers/torch_snapshot.h"
#include "engine/simulate/simulation.h"

namespace gpustrata::cli {

namespace {

struct SimulateOptions {
  std::string script;  // a file, or - for standard input
  int64_t device_bytes = simulate::kDefaultDeviceBytes;
  std::string conf;
  std::string dump;  // where the snapshot at the end goes; empty = nowhere
  bool json = false;
};

constexpr size_t kLongestScript = size_t{256} << 20;

[[nodiscard]] Outcome<int64_t> write_dump(const SimulateOptions& options, const model::Recording& recording,
                                          const Console& console) {
  return write_output(options.dump, {&options.script, 1}, console, [&](io::ByteSink& sink) -> Outcome<void> {
    const Status dumped = io::write_torch_snapshot(recording, sink);
    return dumped ? Outcome<void>() : failure(dumped.error(), options.dump);
  });
}

// With --json in words, too: who reads the results line by line sees a step that is wrong.
int fail_with(const Failure& failed, int exit_code, const SimulateOptions& options, const Console& console) {
  if (options.json) (void)tell(failed, true, console);
  (void)tell(failed, false, console);
  return exit_code;
}

// The exit code: 0 (also if the script ran out of device memory: that is a result), 1 wrong device or
// settings, 2 the script could not be read, a step is wrong, or the dump could not be written.
int run_simulate(const SimulateOptions& options, const Console& console) {
  // Before the script is read: wrong usage is that, whatever the script says.
  if (auto usable = simulate::check_usage(options.device_bytes, options.conf); !usable)
    return fail_with(failure(usable.error(), options.script).value(), kWrongUsage, options, console);
  const auto script = read_text(options.script, kLongestScript, "a script");
  if (!script) return fail_with(script.error(), kFailed, options, console);
  Budget budget(console.budget_bytes);
  const bool records = !options.dump.empty();
  const auto simulation = simulate::simulate(*script, options.device_bytes, options.conf, budget,
                                             records ? options.script : std::string());
  if (!simulation)
    return fail_with(failure(simulation.error(), options.script).value(), kFailed, options, console);
  if (records) {
    if (auto dumped = write_dump(options, *simulation->recording, console); !dumped)
      return fail_with(dumped.error(), dumped.error().exit_code(), options, console);
  }
  // Standard output is the dump's if it was asked for.
  answers::TextOut out(options.dump == "-" ? console.notes : console.out);
  if (options.json) {
    answers::json_line(out, *simulation);
  } else {
    answers::to_text(out, *simulation);
  }
  return out.finish() ? kSuccess : tell_unwritten(console);
}

}  // namespace

void add_simulate(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(
      app, chosen, "simulate", "Runs a script of allocations through the caching allocator", run_simulate);
  command->add_option("SCRIPT", options->script, "File with the steps; - is standard input")->required();
  command->add_option("--device", options->device_bytes, "Memory of the device in bytes")
      ->capture_default_str();
  command->add_option("--conf", options->conf, "Settings as in PYTORCH_CUDA_ALLOC_CONF");
  command->add_option("--dump", options->dump, "Write the snapshot at the end to this file (pickle)");
  command->add_flag("--json", options->json, "One JSON object on one line");
}

}  // namespace gpustrata::cli
