// gpustrata serve [DIR|FILE]... [--listen 127.0.0.1:PORT] [--host NAME]... [--memory SIZE] [--sessions N]
//                 [--idle MINUTES] [--viewer gpustrata.html]

#include "engine/cli/commands/all.h"
#include "engine/cli/options.h"
#include "engine/cli/serving.h"

namespace gpustrata::cli {

namespace {

int run_serve(const ServeOptions& options, const Console& console) {
  return serve_pages(options, "serve", console);
}

}  // namespace

void add_serve(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "serve", "The page over HTTP, for files beyond a browser's memory", run_serve);
  command->add_option("PATH", options->paths, "Folders and snapshot files; default: the folder one is in");
  add_serving(*command, *options);
  command->add_option("--sessions", options->sessions, "Most open files")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, size_t{10'000}));
  command
      ->add_option("--idle", options->idle_minutes,
                   "Minutes after which a file that nobody asks about is closed")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 1e6));
}

}  // namespace gpustrata::cli
