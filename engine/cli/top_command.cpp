#include "engine/cli/top_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "engine/base/units.h"
#include "engine/cli/each_file.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/group_lines.h"
#include "engine/cli/input.h"
#include "engine/cli/printable.h"
#include "engine/replay/lifetimes.h"

namespace memstrata::cli {

namespace {

using analysis::Top;
using analysis::TopBy;
using analysis::TopGroup;

[[nodiscard]] std::optional<int32_t> event_of(std::string_view at) {
  int32_t event = 0;
  const auto [end, error] = std::from_chars(at.data(), at.data() + at.size(), event);
  if (error != std::errc{} || end != at.data() + at.size() || event < 0) return std::nullopt;
  return event;
}

// -1 = the state before the first event; none = the device has no such event.
[[nodiscard]] std::optional<int32_t> moment_of(const std::string& at, const replay::Lifetimes& lifetimes) {
  if (at == "peak") return lifetimes.peak_event;
  if (at == "start") return -1;
  if (at == "end") return lifetimes.events.count - 1;
  const auto event = event_of(at);
  return event && *event < lifetimes.events.count ? event : std::nullopt;
}

[[nodiscard]] std::string moment_text(const std::string& at, const Top& top,
                                      const replay::Lifetimes& lifetimes) {
  const std::string word = event_of(at) ? "" : at + ", ";
  if (top.event < 0) return word + "before the first event";
  return fmt::format("{}after event {} (the last is {})", word, count_text(top.event),
                     count_text(int64_t{lifetimes.events.count} - 1));
}

// "   512.0 MiB   41.2%      12 blocks  model.py:10:forward"
[[nodiscard]] std::string table(const model::Recording& recording, const Top& top, TopBy by) {
  std::string out;
  const auto row = [&](int64_t bytes, int64_t count, const std::vector<std::string>& lines) {
    const double share =
        top.bytes > 0 ? 100.0 * static_cast<double>(bytes) / static_cast<double>(top.bytes) : 0;
    const std::string numbers =
        fmt::format("  {:>10}  {:>5.1f}%  {:>9}", size_text(bytes), share, count_text(count));
    out += fmt::format("{}  {}\n", numbers, shortened(lines[0], kLongestLine));
    for (size_t i = 1; i < lines.size(); ++i) {
      out += fmt::format("{:{}}    {}\n", "", numbers.size(), shortened(lines[i], kLongestLine));
    }
  };
  out += fmt::format("  {:>10}  {:>6}  {:>9}  {}\n", "requested", "share", "blocks", heading_of(by));
  for (const TopGroup& group : top.groups)
    row(group.bytes, group.count, lines_of_group(recording, group, by));
  if (top.other_count > 0) {
    const int64_t more = top.all_groups - static_cast<int64_t>(top.groups.size());
    row(top.other_bytes, top.other_count, {fmt::format("({} more; see -n)", count_text(more))});
  }
  return out;
}

struct Answer {
  std::string text;  // a table, or one JSON line
  bool found = true;
};

[[nodiscard]] tl::expected<Answer, ReadFailure> top_of(const std::string& file, const TopOptions& options) {
  Budget budget(default_budget_bytes());
  model::Recording recording(budget);
  if (auto read = read_recording(file, recording); !read) return tl::unexpected(read.error());
  Answer answer;
  JsonWriter json;
  json.begin_object();
  json.member("file", std::string_view(file));
  json.member("format", std::string_view(recording.format));
  json.member("at", std::string_view(options.at));
  json.key("tops");
  json.begin_array();
  std::string text = fmt::format("{}\n", printable(file));
  bool any = false;
  for (const model::Snapshot& snapshot : recording.snapshots) {
    for (const int32_t device : snapshot.devices(recording.segments)) {
      if (options.device && *options.device != device) continue;
      const auto lifetimes = replay::find_lifetimes(recording, snapshot, device);
      if (!lifetimes) return tl::unexpected(failure_of(lifetimes.error()));
      const std::string name =
          snapshot.name.empty() ? "" : fmt::format("Snapshot {}, ", shortened(snapshot.name, 200));
      const auto event = moment_of(options.at, *lifetimes);
      if (!event) {
        text += fmt::format("\n  {}device {} has no event {}: it has {}\n", name, device, options.at,
                            count_text(lifetimes->events.count));
        continue;
      }
      any = true;
      const auto top = analysis::find_top(recording, snapshot, *lifetimes, *event, options.by, options.rows);
      if (!top) return tl::unexpected(failure_of(top.error()));
      json.begin_object();
      if (!snapshot.name.empty()) json.member("snapshot", std::string_view(snapshot.name));
      analysis::write_top(json, recording, *top, options.by);
      json.end_object();
      text += fmt::format("\n  {}{} {}, {}: {} in {} block{}\n\n", name, name.empty() ? "Device" : "device",
                          device, moment_text(options.at, *top, *lifetimes), exact_size_text(top->bytes),
                          count_text(top->count), top->count == 1 ? "" : "s");
      text += table(recording, *top, options.by);
    }
  }
  json.end_array();
  json.end_object();
  answer.found = any;
  if (!any && options.device)
    text += fmt::format("\n  There is no device {} in this file.\n", *options.device);
  answer.text = options.json ? std::move(json).text() + "\n" : std::move(text);
  return answer;
}

}  // namespace

bool is_moment(const std::string& at) {
  return at == "peak" || at == "start" || at == "end" || event_of(at).has_value();
}

int run_top(const TopOptions& options) {
  bool found = true;
  const int exit_code = for_each_file(options.files, options.json, [&](const std::string& file) {
    return top_of(file, options).map([&](Answer&& answer) {
      found = found && answer.found;
      return std::move(answer.text);
    });
  });
  return exit_code == kSuccess && !found ? kWrongUsage : exit_code;
}

}  // namespace memstrata::cli
