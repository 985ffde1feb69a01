#include "engine/cli/commands/serve.h"

#include <pthread.h>

#include <chrono>
#include <cmath>
#include <csignal>

#include "engine/answers/text/printable.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/failure.h"
#include "engine/cli/output/viewer.h"
#include "engine/cli/version.h"
#include "engine/serve/access.h"
#include "engine/serve/heap.h"
#include "engine/serve/server.h"

namespace gpustrata::cli {

int run_serve(const ServeOptions& options, const Console& console) {
  serve::keep_heap_small();
  serve::Options served;
  served.paths = options.paths.empty() ? std::vector<std::string>{"."} : options.paths;
  auto page = viewer_page(options.viewer, "serve");
  if (!page) return tell(page.error(), false, console);
  served.page = std::move(*page);
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
    return tell(failure(server.error(), "serve").value(), false, console);
  }
  if (!console.out.write(io::bytes_of((*server)->address() + "\n"))) return tell_unwritten(console);
  console.note("gpustrata: {} is served, read only. End with Ctrl C.\n",
               answers::printable((*server)->about()));
  const auto listening = serve::listen_address(options.listen);
  if (listening && !serve::is_loopback(listening->host))
    console.note(
        "gpustrata: Whoever knows this address reads these files, and what is sent is not encrypted.\n");
  int told = 0;
  sigwait(&ending, &told);
  pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);  // a second one ends it at once
  return kSuccess;
}

}  // namespace gpustrata::cli
