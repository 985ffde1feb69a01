// gpustrata stats FILE [--at MOMENT] [--device D] [--snapshot S] [--json]

#include <string>

#include "engine/analysis/details/segment_stats.h"
#include "engine/answers/common/moment.h"
#include "engine/answers/details/segment_stats.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/one_file.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/options.h"

namespace gpustrata::cli {

using answers::TextOut;

namespace {

struct StatsOptions {
  FileChoice choice;
  std::string at = "peak";
};

int run_stats(const StatsOptions& options, const Console& console) {
  return answer_about(options.choice, console, [&](const model::Recording& recording, TextOut& out) {
    return answer_at(recording, options.choice, options.at,
                     [&](const OpenedDevice& opened, const replay::MemoryAt& memory) -> Outcome<void> {
                       const auto context = opened.context;
                       const auto stats = analysis::memory_stats(memory, recording.budget);
                       if (!stats) return failure(stats.error(), options.choice.file);
                       if (options.choice.json) {
                         answers::json_line(out, context, memory, *stats);
                       } else {
                         answers::to_text(out, context, memory, *stats);
                       }
                       return {};
                     });
  });
}

}  // namespace

void add_stats(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(app, chosen, "stats", "Segments as bars, and sums", run_stats);
  add_choice(*command, options->choice);
  add_moment(*command, options->at);
}

}  // namespace gpustrata::cli
