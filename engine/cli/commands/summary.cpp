#include "engine/cli/commands/summary.h"

#include "engine/analysis/report/summary.h"
#include "engine/answers/report/summary.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/each_file.h"

namespace gpustrata::cli {

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

}  // namespace gpustrata::cli
