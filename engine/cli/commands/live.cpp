// gpustrata live [FOLDER|PID|FILE] [--listen 127.0.0.1:PORT] [--host NAME]... [--memory SIZE] [--viewer gpustrata.html]

#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/cli/commands/all.h"
#include "engine/cli/failure.h"
#include "engine/cli/input/written_journals.h"
#include "engine/cli/options.h"
#include "engine/cli/serving.h"

namespace gpustrata::cli {

namespace {

struct LiveOptions : ServeOptions {
  std::string what;  // empty = the folder one is in
};

// The exit code: 0; 1 if it cannot begin.
int run_live(const LiveOptions& told, const Console& console) {
  constexpr size_t kMostOpen = 1000;        // every rank, and each once more while it is read again
  constexpr double kLongestLook = 12 * 60;  // at what was read, while the page holds still
  ServeOptions options = told;
  options.is_live = true;
  options.sessions = kMostOpen;
  options.idle_minutes = kLongestLook;
  std::error_code error;
  if (!told.what.empty()) options.paths = {told.what};
  // A folder may be called as a process is.
  if (is_process(told.what) && !std::filesystem::exists(told.what, error)) {
    auto journals = journals_written_by(told.what);
    if (!journals) return tell(failure(journals.error(), "live").value(), false, console);
    options.paths = std::move(*journals);
  }
  return serve_pages(options, "live", console);
}

}  // namespace

void add_live(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "live", "The page, following a program while it writes its journal", run_live);
  command->add_option(
      "WHAT", options->what,
      "A folder with journals (default: the one one is in), a journal, or the number of a process");
  add_serving(*command, *options);
}

}  // namespace gpustrata::cli
