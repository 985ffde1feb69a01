#include "engine/cli/state_command.h"

#include <fmt/core.h>

#include "engine/analysis/summary.h"
#include "engine/answers/json_of.h"
#include "engine/answers/memory_state.h"
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
              shortened(finding.text, 300),
              finding.count == 1 ? "" : fmt::format(" [{} times]", count_text(finding.count)));
    first = false;
  }
}

}  // namespace

int run_state(const StateOptions& options, const Console& console) {
  return answer_about(
      options.choice, console, [&](const model::Recording& recording, TextOut& out) -> Outcome<void> {
        const auto chosen = choose(recording, options.choice);
        if (!chosen) return tl::unexpected(chosen.error());
        const auto history = replay::undo_to_start(recording, *chosen->snapshot, chosen->device);
        if (!history) return failure(history.error(), options.choice.file);
        for (const int64_t event : options.events) {
          if (event < -1 || event >= history->event_count()) {
            return failure(
                name_of(ErrorCode::wrong_usage), options.choice.file,
                fmt::format("There is no event {}: device {} has {} events, and -1 is the state before them.",
                            event, chosen->device, history->event_count()));
          }
        }
        replay::MemoryAt memory(*history, recording.budget);
        bool first = true;
        for (const int64_t event : options.events) {
          if (const Status there = go_to(memory, static_cast<int32_t>(event)); !there)
            return failure(there.error(), options.choice.file);
          if (!options.choice.json && !first) out.add("\n");
          first = false;
          if (options.choice.json) {
            out.add(answers::json_of(recording, *history, memory));
            out.add("\n");
          } else {
            out.add(answers::to_text(recording, *history, memory));
            write_findings(out, history->diagnostics);
          }
        }
        return {};
      });
}

}  // namespace memstrata::cli
