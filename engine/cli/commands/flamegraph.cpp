// gpustrata flamegraph FILE [--at MOMENT] [--segments] [-o OUT.svg | --folded] [--device D] [--snapshot S] [--json]

#include <fmt/core.h>

#include <string>

#include "engine/analysis/calls/flame_graph.h"
#include "engine/answers/calls/flame_graph.h"
#include "engine/answers/common/moment.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/one_file.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/options.h"
#include "engine/cli/output/output_file.h"

namespace gpustrata::cli {

using answers::TextOut;

namespace {

struct FlameGraphOptions {
  FileChoice choice;
  std::string at = "peak";
  std::string output;  // path; empty and - = standard output
  bool segments = false;
  bool folded = false;
};

int run_flamegraph(const FlameGraphOptions& options, const Console& console) {
  return answer_about(options.choice, console, [&](const model::Recording& recording, TextOut& out) {
    return answer_at(
        recording, options.choice, options.at,
        [&](const OpenedDevice& opened, const replay::MemoryAt& memory) -> Outcome<void> {
          const auto stacks = analysis::fold_memory(recording, opened.context.history, memory,
                                                    opened.context.index.streams, {options.segments, true});
          if (!stacks) return failure(stacks.error(), options.choice.file);
          const int32_t device = opened.device->ordinal();
          const auto write_into = [&](TextOut& into) {
            if (options.choice.json)
              return answers::json_line(into, *stacks, device, memory.event(),
                                        recording.diagnostics.incomplete());
            if (options.folded) return answers::folded_to_text(into, *stacks);
            answers::flame_to_svg(into, *stacks,
                                  fmt::format("Memory of {} {}", answers::device_text(device),
                                              answers::moment_text(memory.event(), opened.moments())));
          };
          if (options.output.empty()) {
            write_into(out);
            return {};
          }
          const auto written = write_answer(options.output, {&options.choice.file, 1}, console, write_into);
          return written ? Outcome<void>() : tl::unexpected(written.error());
        });
  });
}

}  // namespace

void add_flamegraph(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "flamegraph", "Memory by stack, as SVG or folded lines", run_flamegraph);
  add_choice(*command, options->choice);
  add_moment(*command, options->at);
  command->add_option("-o,--output", options->output, "File to write; default: standard output");
  command->add_flag("--segments", options->segments, "Segments between stream and state");
  command->add_flag("--folded", options->folded, "Lines 'stack bytes' instead of a picture");
}

}  // namespace gpustrata::cli
