#include "engine/cli/commands.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <new>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/answers/text/printable.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/commands/of_package.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/failure.h"
#include "engine/cli/version.h"

namespace gpustrata::cli {
namespace {

void add_commands(CLI::App& app, Run& chosen) {
  add_report(app, chosen);
  add_run(app, chosen);
  add_dump(app, chosen);
  add_live(app, chosen);
  add_estimate(app, chosen);
  add_summary(app, chosen);
  add_top(app, chosen);
  add_ops(app, chosen);
  add_html(app, chosen);
  add_convert(app, chosen);
  add_anonymize(app, chosen);
  add_simulate(app, chosen);
  add_whatif(app, chosen);
  add_fit(app, chosen);
  add_state(app, chosen);
  add_owner(app, chosen);
  add_stats(app, chosen);
  add_trace(app, chosen);
  add_flamegraph(app, chosen);
  add_compare(app, chosen);
  add_tracker(app, chosen);
  add_telemetry(app, chosen);
  add_check(app, chosen);
  add_facts(app, chosen);
  add_fleet(app, chosen);
  add_schema(app, chosen);
  add_serve(app, chosen);
  add_mcp(app, chosen);
  add_manual(app, chosen);
  add_words(app, chosen);
}

// Changes of one letter that make `b` of `a`: put in, left out, another one, two swapped. Names are short.
[[nodiscard]] size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> steps(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& least = steps[i][j];
      least = i == 0 ? j : j == 0 ? i : steps[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      if (i > 0 && j > 0) least = std::min({least, steps[i - 1][j] + 1, steps[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least = std::min(least, steps[i - 2][j - 2] + 1);
    }
  }
  return steps[a.size()][b.size()];
}

// A first word that is no command, in words; empty: it is one, or an option.
[[nodiscard]] std::string unknown_command(const CLI::App& app, std::span<const std::string> arguments) {
  if (arguments.empty() || arguments[0].empty() || arguments[0][0] == '-') return {};
  constexpr size_t kLongestName = 30;
  const std::string& given = arguments[0];
  const size_t close = given.size() < 4 ? 1 : 2;
  std::string near;
  for (const CLI::App* command : app.get_subcommands({})) {
    const std::string& name = command->get_name();
    if (name == given) return {};
    if (given.size() <= kLongestName && (distance(given, name) <= close || name.starts_with(given)))
      near += (near.empty() ? " Did you mean " : " or ") + name;
  }
  return fmt::format("gpustrata: There is no command \"{}\".{} gpustrata --help lists them.\n",
                     answers::shortened(given, 100), near.empty() ? "" : near + "?");
}

// `gpustrata FILE` is `gpustrata report FILE`.
[[nodiscard]] bool is_file(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(name, ignored);
}

int parse_and_run(std::span<const std::string> arguments, const Console& console) {
  CLI::App app("Reads memory snapshots of PyTorch's CUDA caching allocator.", "gpustrata");
  app.set_version_flag("--version", fmt::format("gpustrata {}", kVersion));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 success (also for a damaged file of which something was read), 1 wrong usage,\n"
      "2 a file could not be read (the others are still printed) or written, or a step of a script is wrong,\n"
      "3 check: a rule is broken, 4 check: whether one is kept cannot be told.\n"
      "gpustrata FILE is gpustrata report FILE.");
  Run chosen;
  add_commands(app, chosen);
  if (is_of_package(arguments)) return become_package(arguments, console);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  if (const std::string message = unknown_command(app, arguments); !message.empty()) {
    if (!is_file(arguments[0])) {
      console.note("{}", message);
      return kWrongUsage;
    }
    reversed.emplace_back("report");
  }
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, notes;
    const bool is_asked_for = app.exit(error, out, notes) == 0;  // --help, --version
    if (!notes.str().empty()) console.note("gpustrata: {}", answers::printable_lines(notes.str()));
    const bool written = console.out.write(io::bytes_of(out.str())).has_value();
    if (!written) return tell_unwritten(console);
    return is_asked_for ? kSuccess : kWrongUsage;
  }
  return chosen(console);
}

}  // namespace

int run(std::span<const std::string> arguments, const Console& console) {
  try {
    return parse_and_run(arguments, console);
  } catch (const std::bad_alloc&) {
    console.note("gpustrata: out of memory\n");
    return kFailed;
  }
}

}  // namespace gpustrata::cli
