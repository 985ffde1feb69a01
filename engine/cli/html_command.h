// memstrata html SNAPSHOT [-o OUT.html] [--viewer memstrata.html] [--json]
#pragma once

#include <string>

namespace memstrata::cli {

struct HtmlOptions {
  std::string file;
  std::string out;     // empty = the file's name and .html
  std::string viewer;  // empty = looked for where the command is installed or built
  bool json = false;
};

// Writes one page that holds the viewer and the snapshot, packed. The exit code: 0; 1 if there is no viewer;
// 2 if the snapshot cannot be read or the page not be written.
[[nodiscard]] int run_html(const HtmlOptions& options);

}  // namespace memstrata::cli
