// The manual page and the shells' completions, of the options as the parser has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpustrata::cli {

struct ManualOption {
  std::string names;  // "-o,--output", or "FILE" of an argument without a name
  std::string value;  // "TEXT:{a,b}", "SIZE"; empty: a flag
  std::string about;
};
struct ManualCommand {
  std::string name, about;
  std::vector<ManualOption> options;
};
struct Manual {
  std::string version, about, footer;
  std::vector<ManualCommand> commands;
};

// For `man`: roff with the macros of man(7).
[[nodiscard]] std::string man_page(const Manual& manual);
// A script for `shell`: bash, zsh or fish; empty for another one.
[[nodiscard]] std::string completions(const Manual& manual, std::string_view shell);

}  // namespace gpustrata::cli
