// gpustrata state FILE [--at MOMENT[,MOMENT...]] [--device D] [--snapshot S] [--json]

#include <string>
#include <vector>

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/details/memory_after.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/one_file.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/options.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::cli {

namespace {

struct StateOptions {
  FileChoice choice;
  std::vector<std::string> at = {"peak"};  // moments (moment.h); one answer each
};

// Of reading the file, of showing the device and of undoing its events.
[[nodiscard]] model::Diagnostics noticed(const OpenedDevice& opened) {
  const model::Recording& recording = opened.device->recording();
  model::Diagnostics all = recording.diagnostics;
  analysis::add_device_diagnostics(all, recording, opened.device->lives());
  all.add_all(opened.context.history.diagnostics);
  return all;
}

int run_state(const StateOptions& options, const Console& console) {
  return answer_about(options.choice, console,
                      [&](const model::Recording& recording, answers::TextOut& out) -> Outcome<void> {
                        const auto chosen = choose(recording, options.choice);
                        if (!chosen) return tl::unexpected(chosen.error());
                        const auto opened = open_device(recording, *chosen);
                        if (!opened) return failure(opened.error(), options.choice.file);
                        std::vector<int32_t> events;
                        for (const std::string& at : options.at) {
                          const auto event = event_or_error(at, opened->moments());
                          if (!event) return failure(event.error(), options.choice.file);
                          events.push_back(*event);
                        }
                        replay::MemoryAt memory(opened->context.history, recording.budget);
                        for (size_t i = 0; i < events.size(); ++i) {
                          if (const Status there = go_to(memory, events[i]); !there)
                            return failure(there.error(), options.choice.file);
                          if (options.choice.json) {
                            answers::json_line(out, recording, opened->context.history, memory);
                            continue;
                          }
                          if (i > 0) out.add("\n");
                          answers::to_text(out, recording, opened->context.history, memory);
                        }
                        if (!options.choice.json)
                          answers::noticed_to_text(out, analysis::findings(noticed(*opened)));
                        return {};
                      });
}

}  // namespace

void add_state(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "state", "Segments and blocks after an event of the trace", run_state);
  add_choice(*command, options->choice);
  command
      ->add_option("--at,--event", options->at,
                   std::string(kMomentHelp) + "; several with commas are several answers")
      ->type_name("MOMENT,...")
      ->default_str("peak")
      ->delimiter(',')
      ->allow_extra_args(false);
}

}  // namespace gpustrata::cli
