// gpustrata top FILE... [--at peak|start|end|EVENT] [--by stack|line|function|file] [-n 20] [--filter F] [--device N]
//               [--with TRACE [--offset MICROSECONDS] [--ops]] [--json]

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/device/device.h"
#include "engine/analysis/filters/block_filter.h"
#include "engine/analysis/live/top.h"
#include "engine/answers/live/group_lines.h"
#include "engine/answers/live/top.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/each_file.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input/input.h"
#include "engine/cli/input/with_trace.h"
#include "engine/cli/moment.h"
#include "engine/cli/options.h"

namespace gpustrata::cli {

namespace {

struct TopOptions {
  std::vector<std::string> files;
  std::string at = "peak";
  analysis::By by = analysis::By::stack;
  size_t rows = 20;
  std::string filter;  // only blocks that it means (analysis/filters/filter_syntax.h); empty = all
  std::optional<int32_t> device;
  WithTrace with;
  bool wide = false;  // lines as long as they are
  bool json = false;
};

using analysis::DeviceTop;

// A blank text means all: no column.
[[nodiscard]] Result<analysis::Matches> blocks_meant(analysis::Device& device, const std::string& filter) {
  if (filter.find_first_not_of(" \t\r\n") == std::string::npos)
    return analysis::Matches(device.recording().budget);
  return analysis::filter_blocks(device, filter);
}

// The devices that are asked for, each with what is alive; without that if it has no such event.
[[nodiscard]] Result<std::vector<DeviceTop>> find_tops(const model::Recording& recording,
                                                       const TopOptions& options) {
  std::vector<DeviceTop> tops;
  for (const model::Part& part : recording.parts) {
    for (const int32_t device : part.devices(recording.segments)) {
      if (options.device && *options.device != device) continue;
      const auto opened = analysis::Device::open(recording, part, device);
      if (!opened) return tl::unexpected(opened.error());
      const replay::BlockLives& lives = (*opened)->lives();
      DeviceTop& one = tops.emplace_back();
      one.part = &part;
      one.device = device;
      one.moments = {lives.events.count, lives.peak_event};
      const auto event = event_at(options.at, one.moments);
      if (!event) continue;
      auto meant = blocks_meant(**opened, options.filter);
      if (!meant) return tl::unexpected(meant.error());
      const analysis::Keys* keys = nullptr;
      if (options.by < analysis::By::category) {
        const auto found = (*opened)->keys(options.by);
        if (!found) return tl::unexpected(found.error());
        keys = *found;
      }
      auto top = analysis::find_top(recording, part, lives, analysis::When::alive(*event), options.by,
                                    options.rows, meant->matched.span(), keys);
      if (!top) return tl::unexpected(top.error());
      one.top.emplace(std::move(*top));
    }
  }
  return tops;
}

// The exit code: 0; 1 if a file has no such event or device; 2 if any file could not be read.
int run_top(const TopOptions& options, const Console& console) {
  bool all_found = true;
  const int exit_code = for_each_file(
      options.files, options.json, console,
      [&](const std::string& file, model::Recording& recording, answers::TextOut& out) -> Outcome<void> {
        std::optional<replay::AttachedOps> attached;
        if (!options.with.trace.empty()) {
          const auto done = attach_trace(options.with, file, recording, console);
          if (!done) return tl::unexpected(done.error());
          attached = *done;
        }
        if (!options.json) note_damage(file, recording, console);
        const auto tops = find_tops(recording, options);
        if (!tops) return failure(tops.error(), file);
        all_found = all_found && std::any_of(tops->begin(), tops->end(),
                                             [](const DeviceTop& one) { return one.top.has_value(); });
        const answers::TopAnswer answer{file,           options.at,     recording, *tops,
                                        options.device, options.filter, attached};
        if (options.json) {
          answers::json_line(out, answer);
        } else {
          answers::to_text(out, answer, options.wide ? answers::kWide : console.columns);
        }
        return {};
      });
  return exit_code == kSuccess && !all_found ? kWrongUsage : exit_code;
}

}  // namespace

void add_top(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add_for_files(app, chosen, "top", "What is alive at a moment, the largest first", run_top);
  add_moment(*command, options->at);
  add_groups(*command, options->by, options->rows, options->wide);
  command->add_option("--filter", options->filter,
                      "Only blocks that it means, as in the page: \"category:activation size>1MiB\"");
  add_with(*command, options->with);
  command->add_flag("--ops", options->with.wanted.ops_only, "With --with: stacks of ops alone")
      ->needs("--with");
  command->add_option("--device", options->device, "Only this device");
  command->add_flag("--json", options->json, "One JSON object per file and line");
}

}  // namespace gpustrata::cli
