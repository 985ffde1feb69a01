// gpustrata facts FILE... [-o OUT] [--run NAME] [--rank N] [--host NAME] [--world-size N] [--name PATH]

#include <algorithm>
#include <new>

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/failure.h"
#include "engine/answers/report/facts.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/commands/facts.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input/facts_origin.h"
#include "engine/cli/input/input.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/options.h"
#include "engine/cli/output/output_file.h"

namespace gpustrata::cli {

namespace {

struct FactsOptions {
  std::vector<std::string> files;
  OriginOptions origin;  // empty output and - = standard output
};

[[nodiscard]] answers::FactsOrigin origin_of(const std::string& file, const OriginOptions& said,
                                             const model::Launch& launch = {}) {
  answers::FactsOrigin origin = origin_of_path(file == "-" ? said.name : file, said.output);
  if (launch.rank >= 0) origin.rank = launch.rank;
  if (launch.world_size > 0) origin.world_size = launch.world_size;
  origin.groups = launch.groups;
  if (said.run) origin.run = *said.run;
  if (said.host) origin.host = *said.host;
  if (said.rank) origin.rank = said.rank;
  if (said.world_size) origin.world_size = said.world_size;
  return origin;
}

[[nodiscard]] Status add_device(const model::Recording& recording, const Chosen& chosen,
                                const answers::FactsOrigin& origin, analysis::ShownStacks& stacks,
                                std::string& lines) {
  auto opened = open_device(recording, chosen);
  if (!opened) return tl::unexpected(opened.error());
  const auto facts = analysis::find_facts(opened->context, *opened->device);
  if (!facts) return tl::unexpected(facts.error());
  const auto categories = opened->device->categories();
  if (!categories) return tl::unexpected(categories.error());
  model::Diagnostics diagnostics = recording.diagnostics;
  analysis::add_device_diagnostics(diagnostics, recording, opened->device->lives());
  lines += answers::json_of(
      answers::FactsAnswer{origin, opened->context, *facts, **categories, diagnostics, stacks});
  lines += '\n';
  return {};
}

[[nodiscard]] Outcome<std::string> facts_of(const std::string& file, const OriginOptions& said,
                                            const Console& console) {
  Budget budget(console.budget_bytes);
  InputRecording input(console, budget);
  const auto read = input.read(file);
  if (!read) return tl::unexpected(read.error());
  const model::Recording& recording = **read;
  analysis::ShownStacks stacks(recording);
  const auto no_memory = [&] {
    return failure(name_of(ErrorCode::limit_exceeded), file, "This file needs too much memory.");
  };
  if (!stacks.prepare()) return no_memory();
  std::string lines;
  for (const model::Part& part : recording.parts) {
    const answers::FactsOrigin origin = origin_of(file, said, part.launch);
    for (const int32_t device : part.devices(recording.segments)) {
      if (const Status done = add_device(recording, {&part, device}, origin, stacks, lines); !done)
        return failure(done.error(), file);
    }
  }
  if (lines.empty())
    return failure(name_of(ErrorCode::invalid_format), file,
                   "No device of this file has a segment or an event: there are no facts.");
  return lines;
}

}  // namespace

Outcome<void> write_facts(const std::string& file, const OriginOptions& origin, const Console& console,
                          answers::TextOut& out) {
  Outcome<std::string> lines;
  try {
    lines = facts_of(file, origin, console);
  } catch (const std::bad_alloc&) {  // beyond what the budget knows; the other files may well fit
    lines = failure(name_of(ErrorCode::limit_exceeded), file, "This file needs too much memory.");
  }
  if (!lines) return tl::unexpected(lines.error());
  out.add(*lines);
  return {};
}

namespace {

// Missing folders of the output are made. The exit code: 0; 1 for a wrong output or a name where no "-" is; 2 if any file could not be read: its line is {"file", "error"}, so that who
// counts lines misses nothing.
int run_facts(const FactsOptions& options, const Console& console) {
  const std::string& output = options.origin.output;
  if (!options.origin.name.empty() &&
      std::find(options.files.begin(), options.files.end(), "-") == options.files.end()) {
    const auto wrong = failure(name_of(ErrorCode::wrong_usage), "--name",
                               "This names standard input (-), which is not among the files.");
    return tell(wrong.value(), false, console);
  }
  int exit_code = kSuccess;
  const auto write = [&](answers::TextOut& out) {
    for (const std::string& file : options.files) {
      const auto written = write_facts(file, options.origin, console, out);
      if (written) continue;
      const answers::FactsOrigin origin = origin_of(file, options.origin);
      const answers::Failed failed = written.error().told();
      answers::json_line(out, answers::FailedFacts{origin, failed});
      exit_code = std::max(exit_code, written.error().exit_code());
      if (!output.empty() && output != "-") (void)tell(written.error(), false, console);
    }
  };
  if (output.empty() || output == "-") {
    answers::TextOut out(console.out);
    write(out);
    return out.finish() ? exit_code : tell_unwritten(console);
  }
  const auto written = write_answer(output, options.files, console, write, Folders::made);
  return written ? exit_code : std::max(exit_code, tell(written.error(), false, console));
}

// Where the files of a job belong, where their names do not say it.
void add_origin(CLI::App& command, OriginOptions& origin) {
  command.add_option("--run", origin.run,
                     "Name of the run; default: of the folder run=NAME, of the file or the output");
  command
      .add_option("--rank", origin.rank,
                  "Rank; default: of the trace, the folder rank=N, or the file's name (rank3, rank_03)")
      ->check(CLI::Range(int64_t{0}, int64_t{INT32_MAX}));
  command.add_option("--host", origin.host, "Name of the host; default: of the folder host=NAME");
  command.add_option("--name", origin.name,
                     "Path that standard input (-) has elsewhere: run=a/rank3.pickle tells run and rank");
  command.add_option("--world-size", origin.world_size, "Number of ranks; default: of the trace")
      ->check(CLI::Range(int64_t{1}, int64_t{INT32_MAX}));
}

}  // namespace

void add_facts(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add_for_files(app, chosen, "facts",
                    "A line of facts per device, to compare many ranks by (gpustrata fleet)", run_facts);
  command->add_option("-o,--output", options->origin.output,
                      "File to write, in folders that are made; default: standard output");
  add_origin(*command, options->origin);
}

}  // namespace gpustrata::cli
