// The commands: each adds itself to the parser, and is `chosen` when it is asked for. In the order of --help.
#pragma once

#include <functional>

#include "engine/cli/console.h"

namespace CLI {
class App;
}

namespace gpustrata::cli {

// Runs the chosen command; the exit code.
using Run = std::function<int(const Console&)>;

void add_report(CLI::App& app, Run& chosen);
void add_run(CLI::App& app, Run& chosen);
void add_dump(CLI::App& app, Run& chosen);
void add_estimate(CLI::App& app, Run& chosen);
void add_summary(CLI::App& app, Run& chosen);
void add_top(CLI::App& app, Run& chosen);
void add_ops(CLI::App& app, Run& chosen);
void add_html(CLI::App& app, Run& chosen);
void add_convert(CLI::App& app, Run& chosen);
void add_anonymize(CLI::App& app, Run& chosen);
void add_simulate(CLI::App& app, Run& chosen);
void add_whatif(CLI::App& app, Run& chosen);
void add_fit(CLI::App& app, Run& chosen);
void add_state(CLI::App& app, Run& chosen);
void add_owner(CLI::App& app, Run& chosen);
void add_stats(CLI::App& app, Run& chosen);
void add_trace(CLI::App& app, Run& chosen);
void add_flamegraph(CLI::App& app, Run& chosen);
void add_compare(CLI::App& app, Run& chosen);
void add_tracker(CLI::App& app, Run& chosen);
void add_telemetry(CLI::App& app, Run& chosen);
void add_check(CLI::App& app, Run& chosen);
void add_facts(CLI::App& app, Run& chosen);
void add_fleet(CLI::App& app, Run& chosen);
void add_schema(CLI::App& app, Run& chosen);
void add_serve(CLI::App& app, Run& chosen);
void add_live(CLI::App& app, Run& chosen);
void add_mcp(CLI::App& app, Run& chosen);
void add_manual(CLI::App& app, Run& chosen);
void add_words(CLI::App& app, Run& chosen);

}  // namespace gpustrata::cli
