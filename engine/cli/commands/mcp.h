// gpustrata mcp: the questions as tools for an agent, over standard input and output as the Model Context Protocol says:
// one JSON-RPC message a line.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "engine/cli/console.h"

namespace gpustrata::cli {

// Runs a command (commands.h). Given, so that this file knows no command.
using RunCommand = std::function<int(std::span<const std::string>, const Console&)>;

// Most bytes of a tool's answer; more is asked for with `from`.
inline constexpr size_t kLongestToolAnswer = 24'000;

// One message; the reply's line, empty if there is none to give.
[[nodiscard]] std::string answer_agent(std::string_view message, const RunCommand& run, int64_t budget_bytes);

// Reads standard input to its end. The exit code.
[[nodiscard]] int run_mcp(const RunCommand& run, const Console& console);

}  // namespace gpustrata::cli
