// gpustrata facts FILE... [-o OUT] [--run NAME] [--rank N] [--host NAME] [--world-size N] [--name PATH]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/answers/text/text_out.h"
#include "engine/cli/console.h"
#include "engine/cli/failure.h"

namespace gpustrata::cli {

// What is said here goes before what names of files and folders say.
struct OriginOptions {
  std::string name;    // path that standard input ("-") is taken to have; empty: none
  std::string output;  // path; its folders count where those of the file say nothing
  std::optional<std::string> run, host;
  std::optional<int64_t> rank, world_size;
};

// The lines of one file; of one that has no events, segments or blocks none. Failure: nothing was written.
[[nodiscard]] Outcome<void> write_facts(const std::string& file, const OriginOptions& origin,
                                        const Console& console, answers::TextOut& out);

}  // namespace gpustrata::cli
