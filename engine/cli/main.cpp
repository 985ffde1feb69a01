// The command line tool. Options only; each command has a file of its own.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <new>

#include "engine/cli/exit_codes.h"
#include "engine/cli/html_command.h"
#include "engine/cli/paths.h"
#include "engine/cli/printable.h"
#include "engine/cli/summary_command.h"
#include "engine/cli/top_command.h"
#include "engine/cli/version.h"

namespace {

int run(int argc, char** argv) {
  using namespace memstrata::cli;
  using memstrata::analysis::TopBy;
  CLI::App app("Reads memory snapshots of PyTorch's CUDA caching allocator.", "memstrata");
  app.set_version_flag("--version", fmt::format("memstrata {}", kVersion));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 success (also for a damaged file of which something was read), 1 wrong usage,\n"
      "2 a file could not be read (the others are still printed) or written.");

  std::string paths_from;
  const auto add_files = [&](CLI::App* command, std::vector<std::string>& files) {
    command->add_option("FILE", files,
                        "Snapshot files, also packed (gz, zst, zip), JSON or web pages; - is standard input");
    command->add_option("--paths-from", paths_from,
                        "Read further paths from this file, one a line; - is standard input");
  };

  SummaryOptions summary;
  CLI::App* summary_command = app.add_subcommand(
      "summary", "Peak, sizes, events, stacks and time span per device, and what was lost");
  add_files(summary_command, summary.files);
  summary_command->add_flag("--json", summary.json, "One JSON object per file and line");

  TopOptions top;
  CLI::App* top_command = app.add_subcommand("top", "What is alive at a moment, the largest first");
  add_files(top_command, top.files);
  top_command
      ->add_option("--at", top.at, "The moment: peak, start, end, or an event index (the state after it)")
      ->capture_default_str()
      ->check([](const std::string& at) {
        return is_moment(at) ? "" : "neither peak, start, end nor an event index";
      });
  const std::map<std::string, TopBy> groups{
      {"stack", TopBy::stack}, {"function", TopBy::function}, {"file", TopBy::file}};
  top_command->add_option("--by", top.by, "Group by stack, function or file")
      ->transform(CLI::CheckedTransformer(groups))
      ->default_str("stack");
  top_command->add_option("-n", top.rows, "Rows to show")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, size_t{1'000'000}));
  top_command->add_option("--device", top.device, "Only this device");
  top_command->add_flag("--json", top.json, "One JSON object per file and line");

  HtmlOptions html;
  CLI::App* html_command =
      app.add_subcommand("html", "One page with the viewer and the snapshot inside, which opens offline");
  html_command->add_option("SNAPSHOT", html.file, "Snapshot file")->required();
  html_command->add_option("-o,--output", html.out, "The page (default: the file's name and .html, here)");
  html_command->add_option("--viewer", html.viewer,
                           "memstrata.html (default: installed or built beside this command)");
  html_command->add_flag("--json", html.json, "Answer as a JSON object");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kWrongUsage;
  }
  if (html_command->parsed()) return run_html(html);
  std::vector<std::string>& files = top_command->parsed() ? top.files : summary.files;
  if (!paths_from.empty() && !append_paths(paths_from, files)) {
    fmt::print(stderr, "memstrata: the list of paths {} cannot be read\n", printable(paths_from));
    return kWrongUsage;
  }
  if (files.empty()) {
    std::fputs("memstrata: name a snapshot file, or a list of them with --paths-from\n", stderr);
    return kWrongUsage;
  }
  return top_command->parsed() ? run_top(top) : run_summary(summary);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("memstrata: out of memory\n", stderr);
    return memstrata::cli::kUnreadable;
  }
}
