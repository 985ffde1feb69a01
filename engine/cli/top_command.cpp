#include "engine/cli/top_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "engine/answers/top.h"
#include "engine/base/units.h"
#include "engine/cli/each_file.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/group_lines.h"
#include "engine/cli/moment.h"
#include "engine/cli/printable.h"
#include "engine/replay/block_lives.h"

namespace memstrata::cli {

namespace {

using analysis::Top;
using analysis::TopBy;
using analysis::TopGroup;

[[nodiscard]] Moments moments_of(const replay::BlockLives& lifetimes) {
  return {lifetimes.events.count, lifetimes.peak_event};
}

// "  512.0 MiB   41.2%       12  forward  …/model/attention.py:120"
void write_table(TextOut& out, const model::Recording& recording, const Top& top, TopBy by, size_t columns) {
  out.print("  {:>9}  {:>6}  {:>7}  {}\n", "requested", "share", "blocks", heading_of(by));
  const auto numbers_of = [&](int64_t bytes, int64_t count) {
    const double share =
        top.bytes > 0 ? 100.0 * static_cast<double>(bytes) / static_cast<double>(top.bytes) : 0;
    return fmt::format("  {:>9}  {:>5.1f}%  {:>7}", size_text(bytes), share, count_text(count));
  };
  for (const TopGroup& group : top.groups) {
    const std::string numbers = numbers_of(group.bytes, group.count);
    out.add(table_row(numbers, lines_of_group(recording, group, by, columns_beside(numbers, columns))));
    if (out.failed()) return;
  }
  if (top.other_count == 0) return;
  const int64_t more = top.all_groups - static_cast<int64_t>(top.groups.size());
  out.add(table_row(numbers_of(top.other_bytes, top.other_count),
                    {fmt::format("({} more; see -n)", count_text(more))}));
}

// One device of a snapshot that is asked for, with everything about it; null if it has no such event.
using Look = std::function<Outcome<void>(const model::Part&, int32_t, const replay::BlockLives&, const Top*)>;

[[nodiscard]] Outcome<void> for_each_device(const std::string& file, const model::Recording& recording,
                                            const TopOptions& options, const Look& look) {
  for (const model::Part& part : recording.parts) {
    for (const int32_t device : part.devices(recording.segments)) {
      if (options.device && *options.device != device) continue;
      const auto lifetimes = replay::find_block_lives(recording, part, device);
      if (!lifetimes) return failure(lifetimes.error(), file);
      const auto event = event_at(options.at, moments_of(*lifetimes));
      if (!event) {
        if (auto looked = look(part, device, *lifetimes, nullptr); !looked) return looked;
        continue;
      }
      const auto top = analysis::find_top(recording, part, *lifetimes, *event, options.by, options.rows);
      if (!top) return failure(top.error(), file);
      if (auto looked = look(part, device, *lifetimes, &*top); !looked) return looked;
    }
  }
  return {};
}

[[nodiscard]] Outcome<bool> write_json(const std::string& file, const model::Recording& recording,
                                       const TopOptions& options, TextOut& out) {
  JsonWriter json;
  json.begin_object();
  json.member("file", std::string_view(file));
  json.member("format", std::string_view(recording.format));
  json.member("at", std::string_view(options.at));
  json.key("tops");
  json.begin_array();
  bool found = false;
  auto looked =
      for_each_device(file, recording, options,
                      [&](const model::Part& part, int32_t, const replay::BlockLives&, const Top* top) {
                        if (top == nullptr) return Outcome<void>();
                        found = true;
                        json.begin_object();
                        if (!part.name.empty()) json.member("snapshot", std::string_view(part.name));
                        if (const Status written = answers::to_json(json, recording, *top); !written)
                          return Outcome<void>(failure(written.error(), file));
                        json.end_object();
                        out.take_from(json);
                        return Outcome<void>();
                      });
  if (!looked) return tl::unexpected(looked.error());
  json.end_array();
  json.end_object();
  out.end_line(std::move(json));
  return found;
}

[[nodiscard]] Outcome<bool> write_text(const std::string& file, const model::Recording& recording,
                                       const TopOptions& options, size_t columns, TextOut& out) {
  out.print("{}\n", printable(file));
  bool found = false;
  auto looked = for_each_device(
      file, recording, options,
      [&](const model::Part& part, int32_t device, const replay::BlockLives& lifetimes, const Top* top) {
        const std::string name =
            part.name.empty() ? "" : fmt::format("Snapshot {}, ", shortened(part.name, 200));
        if (top == nullptr) {
          out.print("\n  {}device {} has no event {}: it has {}\n", name, device, options.at,
                    count_text(lifetimes.events.count));
          return Outcome<void>();
        }
        found = true;
        out.print("\n  {}{} {} {}\n  {} in {} block{}\n\n", name, name.empty() ? "Device" : "device", device,
                  moment_text(top->event, moments_of(lifetimes)), exact_size_text(top->bytes),
                  count_text(top->count), top->count == 1 ? "" : "s");
        write_table(out, recording, *top, options.by, columns);
        return Outcome<void>();
      });
  if (!looked) return tl::unexpected(looked.error());
  if (!found && options.device) out.print("\n  There is no device {} in this file.\n", *options.device);
  return found;
}

}  // namespace

int run_top(const TopOptions& options, const Console& console) {
  bool all_found = true;
  const int exit_code = for_each_file(
      options.files, options.json, console,
      [&](const std::string& file, const model::Recording& recording, TextOut& out) -> Outcome<void> {
        const auto found =
            options.json ? write_json(file, recording, options, out)
                         : write_text(file, recording, options, options.wide ? kWide : console.columns, out);
        if (!found) return tl::unexpected(found.error());
        all_found = all_found && *found;
        return {};
      });
  return exit_code == kSuccess && !all_found ? kWrongUsage : exit_code;
}

}  // namespace memstrata::cli
