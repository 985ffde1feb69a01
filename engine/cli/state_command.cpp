#include "engine/cli/state_command.h"

#include <fmt/core.h>

#include "engine/analysis/summary.h"
#include "engine/answers/json_of.h"
#include "engine/answers/memory_state.h"
#include "engine/answers/summary.h"
#include "engine/base/units.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/printable.h"
#include "engine/replay/memory_at.h"

namespace memstrata::cli {

namespace {

void write_findings(TextOut& out, const model::Diagnostics& diagnostics) {
  bool first = true;
  for (const analysis::Finding& finding : analysis::findings(diagnostics)) {
    out.print("{}    {:<8} {}{}\n", first ? "\n  Noticed while undoing events\n" : "", finding.severity,
              shortened(answers::finding_text(finding), 300),
              finding.count == 1 ? "" : fmt::format(" [{} times]", count_text(finding.count)));
    first = false;
  }
}

}  // namespace

int run_state(const StateOptions& options, const Console& console) {
  return answer_about(options.choice, console,
                      [&](const model::Recording& recording, TextOut& out) -> Outcome<void> {
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
                        replay::MemoryAt memory(opened->history, recording.budget);
                        for (size_t i = 0; i < events.size(); ++i) {
                          if (const Status there = go_to(memory, events[i]); !there)
                            return failure(there.error(), options.choice.file);
                          if (options.choice.json) {
                            out.add(answers::json_of(recording, opened->history, memory));
                            out.add("\n");
                            continue;
                          }
                          if (i > 0) out.add("\n");
                          out.add(answers::to_text(recording, opened->history, memory));
                          write_findings(out, opened->history.diagnostics);
                        }
                        return {};
                      });
}

}  // namespace memstrata::cli
