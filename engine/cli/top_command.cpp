#include "engine/cli/top_command.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/answers/group_lines.h"
#include "engine/answers/json_of.h"
#include "engine/answers/top.h"
#include "engine/cli/each_file.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/moment.h"
#include "engine/replay/block_lives.h"

namespace memstrata::cli {

namespace {

using analysis::DeviceTop;

// The devices that are asked for, each with what is alive; without that if it has no such event.
[[nodiscard]] Result<std::vector<DeviceTop>> find_tops(const model::Recording& recording,
                                                       const TopOptions& options) {
  std::vector<DeviceTop> tops;
  for (const model::Part& part : recording.parts) {
    for (const int32_t device : part.devices(recording.segments)) {
      if (options.device && *options.device != device) continue;
      const auto lives = replay::find_block_lives(recording, part, device);
      if (!lives) return tl::unexpected(lives.error());
      DeviceTop& one = tops.emplace_back();
      one.part = &part;
      one.device = device;
      one.moments = {lives->events.count, lives->peak_event};
      const auto event = event_at(options.at, one.moments);
      if (!event) continue;
      auto top = analysis::find_top(recording, part, *lives, *event, options.by, options.rows);
      if (!top) return tl::unexpected(top.error());
      one.top.emplace(std::move(*top));
    }
  }
  return tops;
}

}  // namespace

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
        const auto tops = find_tops(recording, options);
        if (!tops) return failure(tops.error(), file);
        all_found = all_found && std::any_of(tops->begin(), tops->end(),
                                             [](const DeviceTop& one) { return one.top.has_value(); });
        const answers::TopAnswer answer{file, options.at, recording, *tops, options.device, attached};
        if (options.json) {
          answers::json_line(out, answer);
        } else {
          answers::to_text(out, answer, options.wide ? answers::kWide : console.columns);
        }
        return {};
      });
  return exit_code == kSuccess && !all_found ? kWrongUsage : exit_code;
}

}  // namespace memstrata::cli
