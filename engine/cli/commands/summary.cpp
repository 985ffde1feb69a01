// gpustrata summary FILE... [--json]

#include <string>
#include <vector>

#include "engine/analysis/report/summary.h"
#include "engine/answers/report/summary.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/each_file.h"
#include "engine/cli/options.h"

namespace gpustrata::cli {

namespace {

struct SummaryOptions {
  std::vector<std::string> files;
  bool json = false;
};

// The exit code: 0, or 2 if any file could not be read (after the others were printed).
int run_summary(const SummaryOptions& options, const Console& console) {
  return for_each_file(options.files, options.json, console,
                       [&](const std::string& file, const model::Recording& recording,
                           answers::TextOut& out) -> Outcome<void> {
                         const auto summary = analysis::summarize(recording);
                         if (!summary) return failure(summary.error(), file);
                         if (options.json) {
                           answers::json_line(out, *summary, file);
                         } else {
                           answers::to_text(out, *summary, file, console.columns);
                         }
                         return {};
                       });
}

}  // namespace

void add_summary(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add_for_files(app, chosen, "summary",
                    "Peak, sizes, events, stacks and time span per device, and what was lost", run_summary);
  command->add_flag("--json", options->json, "One JSON object per file and line");
}

}  // namespace gpustrata::cli
