#include "engine/cli/memory_commands.h"

#include <fmt/core.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>

#include "engine/analysis/flame_graph.h"
#include "engine/analysis/memory_text.h"
#include "engine/cli/printable.h"

namespace memstrata::cli {

namespace {

// Everything that the commands look at.
struct Opened {
  const model::Snapshot snapshot;  // of the host: with the host as its device
  replay::Lifetimes lifetimes;
  replay::StateHistory history;
  analysis::StreamNumbers streams;

  [[nodiscard]] analysis::EventContext context(const model::Recording& recording) const {
    return {recording, snapshot, history, lifetimes, streams};
  }
};

[[nodiscard]] Result<Opened> open_device(const model::Recording& recording, const FileChoice& choice) {
  const auto chosen = choose(recording, choice);
  if (!chosen) return tl::unexpected(chosen.error());
  const model::Snapshot snapshot =
      chosen->device == replay::kHostDevice ? replay::host_as_device(*chosen->snapshot) : *chosen->snapshot;
  auto lifetimes = replay::find_lifetimes(recording, snapshot, chosen->device);
  if (!lifetimes) return tl::unexpected(lifetimes.error());
  auto history = replay::undo_to_start(recording, snapshot, chosen->device);
  if (!history) return tl::unexpected(history.error());
  return Opened{snapshot, std::move(*lifetimes), std::move(*history),
                analysis::StreamNumbers(recording, snapshot)};
}

[[nodiscard]] Result<int32_t> event_of(const Opened& opened, const std::string& at) {
  if (at == "peak") return opened.lifetimes.peak_event;
  if (at == "end") return opened.history.event_count() - 1;
  if (at == "start") return -1;
  int32_t event = 0;
  const auto [end, error] = std::from_chars(at.data(), at.data() + at.size(), event);
  if (error != std::errc() || end != at.data() + at.size() || event < -1 ||
      event >= opened.history.event_count())
    return fail(
        ErrorCode::wrong_usage, -1,
        "There is no event \"{}\": say peak, end, start, or an index below {} (-1 = before the first).", at,
        opened.history.event_count());
  return event;
}

// The memory after the event that is meant, and what `answer` makes of it.
template <typename Answer>
[[nodiscard]] Result<std::string> answer_at(const model::Recording& recording, const FileChoice& choice,
                                            const std::string& at, Answer&& answer) {
  const auto opened = open_device(recording, choice);
  if (!opened) return tl::unexpected(opened.error());
  const auto event = event_of(*opened, at);
  if (!event) return tl::unexpected(event.error());
  replay::MemoryAt memory(opened->history, recording.budget);
  if (!memory.go_to(*event))
    return fail(ErrorCode::limit_exceeded, -1, "The memory state does not fit into memory.");
  return answer(*opened, memory);
}

// Line ends stay, anything that could steer a terminal goes.
[[nodiscard]] std::string printable_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += printable(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

[[nodiscard]] Result<std::string> write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed)
    return fail(ErrorCode::wrong_usage, -1, "{} cannot be written: {}.", path, std::strerror(errno));
  return std::string();
}

}  // namespace

int run_stats(const StatsOptions& options) {
  return answer_about(options.choice, [&](const model::Recording& recording) {
    return answer_at(recording, options.choice, options.at,
                     [&](const Opened& opened, const replay::MemoryAt& memory) -> Result<std::string> {
                       const auto context = opened.context(recording);
                       return options.choice.json ? analysis::stats_json(context, memory) + "\n"
                                                  : analysis::stats_text(context, memory);
                     });
  });
}

int run_trace(const TraceOptions& options) {
  return answer_about(options.choice, [&](const model::Recording& recording) -> Result<std::string> {
    const auto opened = open_device(recording, options.choice);
    if (!opened) return tl::unexpected(opened.error());
    const auto context = opened->context(recording);
    const int32_t count = opened->history.event_count();
    if (!options.choice.json) {
      replay::MemoryAt memory(opened->history, recording.budget);
      if (!memory.go_to(count - 1))
        return fail(ErrorCode::limit_exceeded, -1, "The memory state does not fit into memory.");
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
        [&](const Opened& opened, const replay::MemoryAt& memory) -> Result<std::string> {
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
