#include "engine/cli/serving.h"

#include <pthread.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <utility>

#include "engine/answers/text/printable.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/failure.h"
#include "engine/cli/output/viewer.h"
#include "engine/cli/sizes.h"
#include "engine/cli/version.h"
#include "engine/serve/access.h"
#include "engine/serve/heap.h"
#include "engine/serve/server.h"

namespace gpustrata::cli {

int serve_pages(const ServeOptions& options, const char* command, const Console& console) {
  serve::keep_heap_small();
  serve::Options served;
  served.paths = options.paths.empty() ? std::vector<std::string>{"."} : options.paths;
  auto page = viewer_page(options.viewer, command);
  if (!page) return tell(page.error(), false, console);
  served.page = std::move(*page);
  served.is_live = options.is_live;
  served.listen = options.listen;
  served.hosts = options.hosts;
  served.version = kVersion;
  served.limits.memory_bytes = options.memory_bytes > 0 ? options.memory_bytes : console.budget_bytes;
  served.limits.most_sessions = options.sessions;
  served.limits.idle = std::chrono::seconds(std::llround(options.idle_minutes * 60));

  // Of all threads that are made from here on; this one waits for them.
  sigset_t ending;
  sigemptyset(&ending);
  for (const int one : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, one);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);

  const auto server = serve::Server::start(std::move(served));
  if (!server) {
    pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
    return tell(failure(server.error(), command).value(), false, console);
  }
  if (!console.out.write(io::bytes_of((*server)->address() + "\n"))) return tell_unwritten(console);
  console.note("gpustrata: {} is {}, read only. End with Ctrl C.\n", answers::printable((*server)->about()),
               options.is_live ? "followed" : "served");
  const auto listening = serve::listen_address(options.listen);
  if (listening && !serve::is_loopback(listening->host))
    console.note(
        "gpustrata: Whoever knows this address reads these files, and what is sent is not encrypted.\n");
  int told = 0;
  sigwait(&ending, &told);
  pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);  // a second one ends it at once
  return kSuccess;
}

void add_serving(CLI::App& command, ServeOptions& options) {
  command.add_option("--listen", options.listen, "Address and port; port 0 is a free one")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  command.add_option("--host", options.hosts, "Another name under which browsers come here; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option_function<std::string>(
          "--memory",
          [&options](const std::string& text) {
            const auto bytes = size_in(text);
            if (!bytes || *bytes <= 0)
              throw CLI::ValidationError("--memory", "say a size as 20GiB, not \"" + text + "\"");
            options.memory_bytes = *bytes;
          },
          "Most memory of all open files; default: three quarters of the machine's")
      ->type_name("SIZE");
  command.add_option("--viewer", options.viewer,
                     "gpustrata.html (default: installed or built beside this command)");
}

}  // namespace gpustrata::cli
