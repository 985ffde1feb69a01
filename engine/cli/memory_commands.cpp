#include "engine/cli/memory_commands.h"

#include <fmt/core.h>

#include <utility>

#include "engine/analysis/flame_graph.h"
#include "engine/analysis/memory_text.h"
#include "engine/cli/opened_device.h"

namespace memstrata::cli {

namespace {

[[nodiscard]] Result<OpenedDevice> open_chosen(const model::Recording& recording, const FileChoice& choice) {
  const auto chosen = choose(recording, choice);
  if (!chosen) return tl::unexpected(chosen.error());
  return open_device(recording, *chosen);
}

// The memory after the event that is meant, and what `answer` makes of it.
template <typename Answer>
[[nodiscard]] Result<std::string> answer_at(const model::Recording& recording, const FileChoice& choice,
                                            const std::string& at, Answer&& answer) {
  const auto opened = open_chosen(recording, choice);
  if (!opened) return tl::unexpected(opened.error());
  const auto event = event_of(*opened, at);
  if (!event) return tl::unexpected(event.error());
  replay::MemoryAt memory(opened->history, recording.budget);
  if (const Status there = go_to(memory, *event); !there) return tl::unexpected(there.error());
  return answer(*opened, memory);
}

}  // namespace

int run_stats(const StatsOptions& options) {
  return answer_about(options.choice, [&](const model::Recording& recording) {
    return answer_at(recording, options.choice, options.at,
                     [&](const OpenedDevice& opened, const replay::MemoryAt& memory) -> Result<std::string> {
                       const auto context = opened.context(recording);
                       return options.choice.json ? analysis::stats_json(context, memory) + "\n"
                                                  : analysis::stats_text(context, memory);
                     });
  });
}

int run_trace(const TraceOptions& options) {
  return answer_about(options.choice, [&](const model::Recording& recording) -> Result<std::string> {
    const auto opened = open_chosen(recording, options.choice);
    if (!opened) return tl::unexpected(opened.error());
    const auto context = opened->context(recording);
    const int32_t count = opened->history.event_count();
    if (!options.choice.json) {
      replay::MemoryAt memory(opened->history, recording.budget);
      if (const Status there = go_to(memory, count - 1); !there) return tl::unexpected(there.error());
      return printable_lines(analysis::trace_text(context, 0, count)) +
             fmt::format("TOTAL MEM: {} bytes allocated, {} reserved\n", memory.totals().allocated,
                         memory.totals().reserved);
    }
    analysis::EventList list(recording.budget);
    list.show_all(count);
    std::string out = fmt::format("{{\"device\":{},\"events\":[", opened->history.rows.device);
    constexpr int32_t kAtOnce = 1000;
    for (int32_t first = 0; first < count; first += kAtOnce) {
      const std::string rows = analysis::event_rows_json(context, list, first, kAtOnce);
      if (first > 0) out += ",";
      out.append(rows, 1, rows.size() - 2);
    }
    return out + "]}\n";
  });
}

int run_flamegraph(const FlameGraphOptions& options) {
  return answer_about(options.choice, [&](const model::Recording& recording) {
    return answer_at(
        recording, options.choice, options.at,
        [&](const OpenedDevice& opened, const replay::MemoryAt& memory) -> Result<std::string> {
          const analysis::FoldedStacks stacks = analysis::fold_memory(
              recording, opened.history, memory, opened.streams, {options.segments, true});
          std::string text;
          if (options.choice.json) {
            JsonWriter json;
            json.begin_object();
            json.member("device", opened.history.rows.device);
            json.member("event", memory.event());
            json.key("stacks");
            json.begin_object();
            for (const auto& [stack, bytes] : stacks) json.member(stack, bytes);
            json.end_object();
            json.end_object();
            text = std::move(json).text() + "\n";
          } else if (options.folded) {
            text = printable_lines(analysis::folded_text(stacks));
          } else {
            text = analysis::flame_svg(stacks, fmt::format("Memory of device {} after event {}",
                                                           opened.history.rows.device, memory.event()));
          }
          return options.output.empty() ? Result<std::string>(text) : write_file(options.output, text);
        });
  });
}

}  // namespace memstrata::cli
