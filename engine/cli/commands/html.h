// gpustrata html SNAPSHOT [-o OUT.html] [--viewer gpustrata.html] [--json]
#pragma once

#include <string>

#include "engine/cli/console.h"

namespace gpustrata::cli {

struct HtmlOptions {
  std::string file;    // - is standard input
  std::string out;     // empty = the file's name and .html; - is standard output
  std::string viewer;  // empty = looked for where the command is installed or built
  bool json = false;
};

// Writes one page that holds the viewer and the snapshot, packed: the bytes are read once, examined and
// packed on their way. The exit code: 0; 1 if there is no viewer; 2 if the snapshot cannot be read or the
// page not be written.
[[nodiscard]] int run_html(const HtmlOptions& options, const Console& console);

}  // namespace gpustrata::cli
