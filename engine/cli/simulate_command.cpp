#include "engine/cli/simulate_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "engine/analysis/summary.h"
#include "engine/base/units.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input.h"
#include "engine/cli/output_file.h"
#include "engine/cli/printable.h"
#include "engine/cli/progress.h"
#include "engine/io/writers/recorded_dump.h"
#include "engine/simulate/report.h"

namespace memstrata::cli {

namespace {

constexpr size_t kLongestScript = size_t{256} << 20;

// The text of a file or standard input; or why not.
[[nodiscard]] tl::expected<std::string, std::string> read_text(const std::string& path) {
  const auto close = [](std::FILE* file) { return file == stdin ? 0 : std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"),
                                                         close);
  if (file == nullptr) return tl::unexpected(std::string(std::strerror(errno)));
  std::string text;
  char buffer[1 << 16];
  for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) {
    if (text.size() + got > kLongestScript)
      return tl::unexpected(fmt::format("a script may have up to {}", size_text(kLongestScript)));
    text.append(buffer, got);
  }
  if (std::ferror(file.get()) != 0) return tl::unexpected(std::string(std::strerror(errno)));
  return text;
}

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

[[nodiscard]] Status write_dump(const std::string& path, const trace::Recorder& recorder,
                                alloc::DeviceAllocator& allocator) {
  Progress progress(path, -1);
  OutputFile output(path, progress);
  if (auto opened = output.open(); !opened) return opened;
  alloc::DeviceAllocator* const all[] = {&allocator};
  if (auto dumped = io::dump_snapshot(recorder, all, default_budget_bytes(), output); !dumped) return dumped;
  return output.finish();
}

int report_failure(const SimulateOptions& options, std::string_view code, const std::string& message,
                   int64_t offset, int exit_code) {
  if (options.json) fmt::print("{}\n", analysis::error_json(code, message, offset, options.script));
  fmt::print(stderr, "memstrata: {}: {}\n", printable(options.script), printable(message));
  return exit_code;
}

}  // namespace

int run_simulate(const SimulateOptions& options) {
  // Settings first: they are wrong usage, whatever the script says.
  Budget budget(default_budget_bytes());
  StepClock clock;
  trace::Recorder recorder(clock, budget);
  const bool records = !options.dump.empty();
  if (records) (void)recorder.record_memory_history({});
  const auto simulation = simulate::Simulation::make(options.device_bytes, options.conf, budget,
                                                     records ? &recorder.device(0) : nullptr);
  if (!simulation)
    return report_failure(options, name_of(simulation.error().code), simulation.error().message, -1,
                          kWrongUsage);
  if (records) {
    (*simulation)->set_origins([&](const simulate::Step& step) {
      return origin_of(step, options.script, recorder);
    });
  }
  const auto script = read_text(options.script);
  if (!script) return report_failure(options, "unreadable", script.error(), -1, kUnreadable);
  if (auto status = (*simulation)->run(*script); !status) {
    const Error& error = status.error();
    return report_failure(options, name_of(error.code), error.message, error.offset, kUnreadable);
  }
  const std::string report =
      options.json ? simulate::report_json(**simulation) + "\n" : simulate::report_text(**simulation);
  // After the report: a snapshot adds its event to the trace.
  if (records) {
    if (auto written = write_dump(options.dump, recorder, (*simulation)->allocator()); !written) {
      fmt::print(stderr, "memstrata: {}: {}\n", printable(options.dump), printable(written.error().message));
      return kUnreadable;
    }
  }
  std::fwrite(report.data(), 1, report.size(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("memstrata: the output could not be written\n", stderr);
    return kUnreadable;
  }
  return kSuccess;
}

}  // namespace memstrata::cli
