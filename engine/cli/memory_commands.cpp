#include "engine/cli/memory_commands.h"

#include <fmt/core.h>

#include <utility>

#include "engine/analysis/flame_graph.h"
#include "engine/analysis/segment_stats.h"
#include "engine/answers/flame_graph.h"
#include "engine/answers/json_of.h"
#include "engine/answers/moment.h"
#include "engine/answers/segment_stats.h"
#include "engine/answers/trace_program.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/output_file.h"

namespace gpustrata::cli {

using answers::TextOut;

namespace {

[[nodiscard]] Outcome<OpenedDevice> open_chosen(const model::Recording& recording, const FileChoice& choice) {
  const auto chosen = choose(recording, choice);
  if (!chosen) return tl::unexpected(chosen.error());
  auto opened = open_device(recording, *chosen);
  if (!opened) return failure(opened.error(), choice.file);
  return std::move(*opened);
}

// The memory after the event that is meant, and what `answer` makes of it.
template <typename Answer>
[[nodiscard]] Outcome<void> answer_at(const model::Recording& recording, const FileChoice& choice,
                                      const std::string& at, Answer&& answer) {
  const auto opened = open_chosen(recording, choice);
  if (!opened) return tl::unexpected(opened.error());
  const auto event = event_or_error(at, opened->moments());
  if (!event) return failure(event.error(), choice.file);
  replay::MemoryAt memory(opened->history, recording.budget);
  if (const Status there = go_to(memory, *event); !there) return failure(there.error(), choice.file);
  return answer(*opened, memory);
}

}  // namespace

int run_stats(const StatsOptions& options, const Console& console) {
  return answer_about(options.choice, console, [&](const model::Recording& recording, TextOut& out) {
    return answer_at(recording, options.choice, options.at,
                     [&](const OpenedDevice& opened, const replay::MemoryAt& memory) -> Outcome<void> {
                       const auto context = opened.context();
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

int run_trace(const TraceOptions& options, const Console& console) {
  return answer_about(options.choice, console,
                      [&](const model::Recording& recording, TextOut& out) -> Outcome<void> {
                        const auto opened = open_chosen(recording, options.choice);
                        if (!opened) return tl::unexpected(opened.error());
                        const auto context = opened->context();
                        if (options.choice.json) {
                          answers::json_line(out, context);
                          return {};
                        }
                        const Status done = answers::trace_to_text(out, context);
                        return done ? Outcome<void>() : failure(done.error(), options.choice.file);
                      });
}

int run_flamegraph(const FlameGraphOptions& options, const Console& console) {
  return answer_about(options.choice, console, [&](const model::Recording& recording, TextOut& out) {
    return answer_at(
        recording, options.choice, options.at,
        [&](const OpenedDevice& opened, const replay::MemoryAt& memory) -> Outcome<void> {
          const auto stacks = analysis::fold_memory(recording, opened.history, memory, opened.index.streams,
                                                    {options.segments, true});
          if (!stacks) return failure(stacks.error(), options.choice.file);
          const int32_t device = opened.device->ordinal();
          const auto write_into = [&](TextOut& into) {
            if (options.choice.json) return answers::json_line(into, *stacks, device, memory.event());
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

}  // namespace gpustrata::cli
