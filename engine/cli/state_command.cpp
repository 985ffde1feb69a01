#include "engine/cli/state_command.h"

#include <fmt/core.h>

#include "engine/analysis/summary.h"
#include "engine/answers/json_of.h"
#include "engine/answers/memory_state.h"
#include "engine/cli/finding_lines.h"
#include "engine/cli/opened_device.h"
#include "engine/replay/memory_at.h"

namespace memstrata::cli {

namespace {

// Of reading the file, of showing the device and of undoing its events.
void write_findings(TextOut& out, const OpenedDevice& opened) {
  const model::Recording& recording = opened.device->recording;
  model::Diagnostics noticed = recording.diagnostics;
  analysis::add_device_diagnostics(noticed, recording, opened.device->lives);
  noticed.add_all(opened.history.diagnostics);
  const std::string lines = finding_lines(analysis::findings(noticed), Remarks::shown);
  if (!lines.empty()) out.print("\n  Noticed\n{}", lines);
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
                        }
                        if (!options.choice.json) write_findings(out, *opened);
                        return {};
                      });
}

}  // namespace memstrata::cli
