#include "engine/cli/memory_commands.h"

#include <fmt/core.h>

#include <utility>

#include "engine/analysis/flame_graph.h"
#include "engine/analysis/memory_text.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/output_file.h"
#include "engine/cli/printable.h"

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
  const auto event = event_of(*opened, at);
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
                       const auto context = opened.context(recording);
                       out.add(options.choice.json ? analysis::stats_json(context, memory) + "\n"
                                                   : analysis::stats_text(context, memory));
                       return {};
                     });
  });
}

int run_trace(const TraceOptions& options, const Console& console) {
  return answer_about(options.choice, console,
                      [&](const model::Recording& recording, TextOut& out) -> Outcome<void> {
                        const auto opened = open_chosen(recording, options.choice);
                        if (!opened) return tl::unexpected(opened.error());
                        const auto context = opened->context(recording);
                        const int32_t count = opened->history.event_count();
                        if (!options.choice.json) {
                          replay::MemoryAt memory(opened->history, recording.budget);
                          if (const Status there = go_to(memory, count - 1); !there)
                            return failure(there.error(), options.choice.file);
                          out.add(printable_lines(analysis::trace_text(context, 0, count)));
                          out.print("TOTAL MEM: {} bytes allocated, {} reserved\n", memory.totals().allocated,
                                    memory.totals().reserved);
                          return {};
                        }
                        analysis::EventList list(recording.budget);
                        list.show_all(count);
                        out.print("{{\"device\":{},\"events\":[", opened->history.rows.device);
                        constexpr int32_t kAtOnce = 1000;
                        for (int32_t first = 0; first < count && !out.failed(); first += kAtOnce) {
                          const std::string rows = analysis::event_rows_json(context, list, first, kAtOnce);
                          if (first > 0) out.add(",");
                          out.add(std::string_view(rows).substr(1, rows.size() - 2));
                        }
                        out.add("]}\n");
                        return {};
                      });
}

namespace {

[[nodiscard]] std::string flame_text(const OpenedDevice& opened, const replay::MemoryAt& memory,
                                     const analysis::FoldedStacks& stacks, const FlameGraphOptions& options) {
  if (!options.choice.json) {
    if (options.folded) return printable_lines(analysis::folded_text(stacks));
    return analysis::flame_svg(stacks, fmt::format("Memory of device {} after event {}",
                                                   opened.history.rows.device, memory.event()));
  }
  JsonWriter json;
  json.begin_object();
  json.member("device", opened.history.rows.device);
  json.member("event", memory.event());
  json.key("stacks");
  json.begin_object();
  for (const auto& [stack, bytes] : stacks) json.member(stack, bytes);
  json.end_object();
  json.end_object();
  return std::move(json).text() + "\n";
}

}  // namespace

int run_flamegraph(const FlameGraphOptions& options, const Console& console) {
  return answer_about(options.choice, console, [&](const model::Recording& recording, TextOut& out) {
    return answer_at(
        recording, options.choice, options.at,
        [&](const OpenedDevice& opened, const replay::MemoryAt& memory) -> Outcome<void> {
          const std::string text = flame_text(opened, memory,
                                              analysis::fold_memory(recording, opened.history, memory,
                                                                    opened.streams, {options.segments, true}),
                                              options);
          if (options.output.empty()) {
            out.add(text);
            return {};
          }
          const auto written = write_text(options.output, {&options.choice.file, 1}, text, console);
          return written ? Outcome<void>() : tl::unexpected(written.error());
        });
  });
}

}  // namespace memstrata::cli
