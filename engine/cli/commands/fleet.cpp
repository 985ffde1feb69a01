// gpustrata fleet PATH... [-o OUT] [--groups FILE] [--layout tp=8,dp=4,pp=2] [--title NAME] [--json]

#include <fmt/core.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engine/answers/clients/fleet.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/commands/fleet_input.h"
#include "engine/cli/console.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/options.h"
#include "engine/cli/output/output_file.h"
#include "engine/fleet/reduce.h"

namespace gpustrata::cli {

namespace {

struct FleetOptions {
  std::vector<std::string> paths;  // facts, snapshots, folders of them
  std::string output;              // the reduced file; empty = none
  std::string groups;              // CSV: run, rank, kind, name
  std::string layout;              // kinds and sizes, those of neighbouring ranks first
  std::string title;               // empty = the paths
  bool json = false;
};

[[nodiscard]] std::string title_of(const FleetOptions& options) {
  if (!options.title.empty()) return options.title;
  if (options.paths.size() == 1) return options.paths.front();
  return fmt::format("{} and {} more", options.paths.front(), options.paths.size() - 1);
}

[[nodiscard]] Outcome<void> read_all(const FleetOptions& options, const Console& console,
                                     fleet::FactTable& facts) {
  const auto layout = layout_of(options.layout);
  if (!layout) return tl::unexpected(layout.error());
  if (!options.groups.empty()) {
    if (auto added = add_groups_of(facts, options.groups); !added) return added;
  }
  if (!layout->empty()) {
    if (auto added = add_layout(facts, *layout); !added) return added;
  }
  const auto files = files_below(options.paths);
  if (!files) return tl::unexpected(files.error());
  for (const FleetFile& file : *files) {
    if (auto added = add_file(facts, file, console); !added) return added;
  }
  if (facts.lines() > 0) return {};
  std::string message = "There are no facts and no snapshots here. gpustrata facts FILE -o OUT writes facts.";
  if (!facts.not_read().empty())
    message = fmt::format("No file could be read. The first: {}: {}", facts.not_read().front().file,
                          facts.not_read().front().message);
  return failure(kUnreadable, title_of(options), std::move(message));
}

[[nodiscard]] Outcome<void> answer(const FleetOptions& options, const Console& console, answers::TextOut& out,
                                   bool& all_read) {
  const std::string title = title_of(options);
  Budget budget(console.budget_bytes);
  auto facts = fleet::FactTable::open(console.budget_bytes, budget);
  if (!facts) return failure(facts.error(), title);
  if (auto read = read_all(options, console, *facts); !read) return read;
  if (Status sealed = facts->seal(); !sealed) return failure(sealed.error(), title);
  model::Fleet fleet(budget);
  if (Status done = fleet::reduce(*facts, title, fleet); !done) return failure(done.error(), title);
  all_read = fleet.unreadable_count == 0;
  if (!options.output.empty()) {
    const auto written = write_answer(options.output, options.paths, console,
                                      [&](answers::TextOut& file) { answers::json_line(file, fleet); });
    if (!written) return tl::unexpected(written.error());
  }
  if (options.output == "-") return {};
  if (options.json) {
    answers::json_line(out, fleet);
  } else {
    answers::to_text(out, fleet, console.columns);
  }
  return {};
}

// The exit code: 0; 1 for wrong options; 2 if nothing could be read, or not everything: the rest is told nevertheless.
int run_fleet(const FleetOptions& options, const Console& console) {
  answers::TextOut out(console.out);
  bool all_read = true;
  Outcome<void> answered;
  try {
    answered = answer(options, console, out, all_read);
  } catch (const std::bad_alloc&) {
    answered =
        failure(name_of(ErrorCode::limit_exceeded), title_of(options), "These files need too much memory.");
  }
  if (const Status written = out.finish(); !written) return tell_unwritten(console);
  if (!answered) return tell(answered.error(), options.json, console);
  return all_read ? kSuccess : kFailed;
}

}  // namespace

void add_fleet(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "fleet", "Many ranks: which one is odd, ran out of memory first, leaks, and why",
          run_fleet);
  command->add_option("PATH", options->paths, "Facts (gpustrata facts), snapshots, folders of either or both")
      ->required();
  command->add_option("-o,--output", options->output, "Write the reduced file, which the page opens");
  command->add_option("--groups", options->groups,
                      "CSV with the columns run, rank, kind, name: groups of ranks; traces say theirs");
  command->add_option("--layout", options->layout,
                      "Groups by number, those of neighbouring ranks first: tp=8,dp=4,pp=2");
  command->add_option("--title", options->title,
                      "What the page and the terminal call it; default: the paths");
  command->add_flag("--json", options->json, "The reduced file on one line");
}

}  // namespace gpustrata::cli
