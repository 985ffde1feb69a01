// gpustrata ops TRACE... [--mode thread|span|pytorch] [--by op|path|shape|module|stack] [--sort WORD] [-n 20]
// [--device D] [--json]

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/analysis/ops/op_groups.h"
#include "engine/answers/ops/ops.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/each_file.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/options.h"

namespace gpustrata::cli {

namespace {

enum class OpsMode : uint8_t {
  thread,   // an op holds what its own thread allocates
  span,     // what any thread of its process allocates meanwhile
  pytorch,  // as the profiler's own table counts
};

struct OpsOptions {
  std::vector<std::string> files;
  OpsMode mode = OpsMode::thread;
  analysis::OpBy by = analysis::OpBy::op;
  answers::OpSort sort = answers::OpSort::at_peak;
  size_t rows = 20;    // of a device; JSON has all
  std::string device;  // "cuda:0"; empty = all
  bool wide = false;
  bool json = false;
};

constexpr size_t kWide = 100'000;

[[nodiscard]] size_t columns_of_table(const OpsOptions& options, const Console& console) {
  return options.wide ? kWide : console.columns;
}

[[nodiscard]] Outcome<void> answer_as_profiler(const std::string& file, const model::Recording& recording,
                                               const OpsOptions& options, size_t columns,
                                               answers::TextOut& out) {
  const bool by_shapes = options.by == analysis::OpBy::shape;
  const auto table = analysis::find_profiler_table(recording, by_shapes);
  if (!table) return failure(table.error(), file);
  if (options.json) {
    const auto rows = answers::ProfilerRows::make(recording, *table, options.sort);
    if (!rows) return failure(rows.error(), file);
    answers::json_line(out, answers::ProfilerLine{*rows, by_shapes, file});
    return {};
  }
  const Status written = answers::to_text(out, recording, *table, options.sort, file, options.rows, columns);
  return written ? Outcome<void>() : failure(written.error(), file);
}

[[nodiscard]] Outcome<bool> answer_by_ops(const std::string& file, const model::Recording& recording,
                                          const OpsOptions& options, size_t columns, answers::TextOut& out) {
  const auto scope = options.mode == OpsMode::span ? analysis::OpScope::process : analysis::OpScope::thread;
  const auto table = analysis::find_op_memory(recording, options.by, scope, options.device);
  if (!table) return failure(table.error(), file);
  const bool found = options.device.empty() || !table->devices.empty();
  if (options.json) {
    const auto line = answers::OpsLine::make(recording, *table, options.sort, file);
    if (!line) return failure(line.error(), file);
    answers::json_line(out, *line);
    return found;
  }
  const Status written =
      answers::to_text(out, recording, *table, options.sort, file, options.device, options.rows, columns);
  if (!written) return failure(written.error(), file);
  return found;
}

// The exit code: 0; 1 if a file has no such device; 2 if any file could not be read or is no trace.
int run_ops(const OpsOptions& options, const Console& console) {
  bool all_found = true;
  const size_t columns = columns_of_table(options, console);
  const int exit_code = for_each_file(
      options.files, options.json, console,
      [&](const std::string& file, const model::Recording& recording,
          answers::TextOut& out) -> Outcome<void> {
        const bool is_trace =
            std::any_of(recording.parts.begin(), recording.parts.end(),
                        [](const model::Part& part) { return part.kind == model::PartKind::trace; });
        if (!is_trace)
          return failure(
              name_of(ErrorCode::unsupported), file,
              "This is no trace of a profiler, so it names no ops; `gpustrata top` says who holds memory.");
        if (options.mode == OpsMode::pytorch)
          return answer_as_profiler(file, recording, options, columns, out);
        const auto found = answer_by_ops(file, recording, options, columns, out);
        if (!found) return tl::unexpected(found.error());
        all_found = all_found && *found;
        return {};
      });
  return exit_code == kSuccess && !all_found ? kWrongUsage : exit_code;
}

}  // namespace

void add_ops(CLI::App& app, Run& chosen) {
  using analysis::OpBy;
  using answers::OpSort;
  const auto [command, options] = add_for_files(
      app, chosen, "ops", "What ops of a profiler's trace did with memory, with their true peaks", run_ops);
  add_word<OpsMode>(
      *command, "--mode", "Whose records an op holds: its thread's, its process's, or as PyTorch counts",
      {{"thread", OpsMode::thread}, {"span", OpsMode::span}, {"pytorch", OpsMode::pytorch}}, options->mode);
  add_word(*command, "--by", "What ops are grouped by", options->by);
  add_word(*command, "--sort", "What comes first", options->sort);
  command->add_option("--device", options->device, "Only this device: cpu, cuda:0");
  command->add_option("-n", options->rows, "Rows to show")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, size_t{1'000'000}));
  command->add_flag("--wide", options->wide, "Lines as long as they are, not cut to the terminal");
  command->add_flag("--json", options->json, "One JSON object per file and line");
}

}  // namespace gpustrata::cli
