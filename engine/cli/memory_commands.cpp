#include "engine/cli/memory_commands.h"

#include <fmt/core.h>

#include <cstdio>
#include <utility>

#include "engine/analysis/flame_graph.h"
#include "engine/analysis/segment_stats.h"
#include "engine/answers/flame_graph.h"
#include "engine/answers/json_of.h"
#include "engine/answers/segment_stats.h"
#include "engine/answers/trace_program.h"
#include "engine/cli/answer_sink.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/output_file.h"

namespace memstrata::cli {

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
                         out.add(answers::json_of(context, memory, *stats) + "\n");
                       } else {
                         out.add(answers::to_text(context, memory, *stats));
                       }
                       return {};
                     });
  });
}

int run_trace(const TraceOptions& options, const Console& console) {
  return answer_about(
      options.choice, console, [&](const model::Recording& recording, TextOut& out) -> Outcome<void> {
        const auto opened = open_chosen(recording, options.choice);
        if (!opened) return tl::unexpected(opened.error());
        const auto context = opened->context();
        const answers::Sink sink = sink_into(out, !options.choice.json);
        const Status done = options.choice.json ? answers::trace_to_json(context, sink)
                                                : answers::trace_to_text(context, sink);
        // What could not be written is told by `out`.
        return done || out.failed() ? Outcome<void>() : failure(done.error(), options.choice.file);
      });
}

namespace {

[[nodiscard]] Status write_flame_graph(const OpenedDevice& opened, const replay::MemoryAt& memory,
                                       const analysis::FoldedStacks& stacks, const FlameGraphOptions& options,
                                       TextOut& out) {
  if (!options.choice.json) {
    if (options.folded) return answers::folded_to_text(stacks, sink_into(out, true));
    return answers::flame_to_svg(
        stacks, fmt::format("Memory of {} {}", opened.name(), moment_text(memory.event(), opened.moments())),
        sink_into(out, false));
  }
  JsonWriter json;
  json.begin_object();
  json.member("device", opened.history.rows.device);
  json.member("event", memory.event());
  json.key("stacks");
  if (Status done = answers::folded_to_json(json, stacks, sink_into(out, false)); !done) return done;
  json.end_object();
  out.end_line(std::move(json));
  return {};
}

}  // namespace

int run_flamegraph(const FlameGraphOptions& options, const Console& console) {
  return answer_about(options.choice, console, [&](const model::Recording& recording, TextOut& out) {
    return answer_at(
        recording, options.choice, options.at,
        [&](const OpenedDevice& opened, const replay::MemoryAt& memory) -> Outcome<void> {
          const auto stacks = analysis::fold_memory(recording, opened.history, memory, opened.index.streams,
                                                    {options.segments, true});
          if (!stacks) return failure(stacks.error(), options.choice.file);
          const auto write_into = [&](TextOut& into) -> Outcome<void> {
            const Status done = write_flame_graph(opened, memory, *stacks, options, into);
            return done || into.failed() ? Outcome<void>() : failure(done.error(), options.choice.file);
          };
          if (options.output.empty()) return write_into(out);
          const auto written = write_output(
              options.output, {&options.choice.file, 1}, console, [&](io::ByteSink& sink) -> Outcome<void> {
                TextOut file(sink);
                if (auto done = write_into(file); !done) return done;
                const Status finished = file.finish();
                return finished ? Outcome<void>() : failure(finished.error(), options.output);
              });
          return written ? Outcome<void>() : tl::unexpected(written.error());
        });
  });
}

}  // namespace memstrata::cli
