// gpustrata trace FILE [--device D] [--snapshot S] [--json]

#include "engine/answers/details/trace_program.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/one_file.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/options.h"

namespace gpustrata::cli {

using answers::TextOut;

namespace {

struct TraceOptions {
  FileChoice choice;
};

int run_trace(const TraceOptions& options, const Console& console) {
  return answer_about(options.choice, console,
                      [&](const model::Recording& recording, TextOut& out) -> Outcome<void> {
                        const auto opened = open_chosen(recording, options.choice);
                        if (!opened) return tl::unexpected(opened.error());
                        const auto context = opened->context;
                        if (options.choice.json) {
                          answers::json_line(out, context);
                          return {};
                        }
                        const Status done = answers::trace_to_text(out, context);
                        return done ? Outcome<void>() : failure(done.error(), options.choice.file);
                      });
}

}  // namespace

void add_trace(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(app, chosen, "trace", "The events as a program", run_trace);
  add_choice(*command, options->choice);
}

}  // namespace gpustrata::cli
