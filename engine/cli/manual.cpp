#include "engine/cli/manual.h"

#include <fmt/core.h>

#include <algorithm>

namespace gpustrata::cli {

namespace {

// Nothing in it is a request of roff or an escape.
[[nodiscard]] std::string roff(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else if ((letter == '.' || letter == '\'') && (out.empty() || out.back() == '\n')) {
      out += "\\&";
      out += letter;
    } else {
      out += letter;
    }
  }
  return out;
}

// "-o,--output" as its names.
[[nodiscard]] std::vector<std::string_view> names_of(const ManualOption& option) {
  std::vector<std::string_view> names;
  std::string_view rest = option.names;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    names.push_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return names;
}

[[nodiscard]] bool is_named(const ManualOption& option) { return option.names.starts_with('-'); }

// For a text between single quotes of a shell.
[[nodiscard]] std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      out += "'\\''";
    } else {
      out += letter;
    }
  }
  return out + "'";
}

[[nodiscard]] std::string words_of(const ManualCommand& command) {
  std::string words;
  for (const ManualOption& option : command.options) {
    if (!is_named(option)) continue;
    for (const std::string_view name : names_of(option))
      words += fmt::format("{}{}", words.empty() ? "" : " ", name);
  }
  return words;
}

[[nodiscard]] std::string all_commands(const Manual& manual) {
  std::string words;
  for (const ManualCommand& command : manual.commands)
    words += fmt::format("{}{}", words.empty() ? "" : " ", command.name);
  return words;
}

[[nodiscard]] std::string for_bash(const Manual& manual) {
  std::string out = fmt::format(
      "# Completions of gpustrata {} for bash, written by it.\n_gpustrata() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} words=\n"
      "  if ((COMP_CWORD == 1)); then words={}\n  else\n    case ${{COMP_WORDS[1]}} in\n",
      manual.version, in_quotes(all_commands(manual) + " --help --version"));
  for (const ManualCommand& command : manual.commands)
    out += fmt::format("      {}) words={} ;;\n", command.name, in_quotes(words_of(command)));
  return out +
         "    esac\n  fi\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)) || [[ $current == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "  fi\n}\ncomplete -o default -F _gpustrata gpustrata\n";
}

[[nodiscard]] std::string for_zsh(const Manual& manual) {
  std::string out = fmt::format(
      "#compdef gpustrata\n# Completions of gpustrata {}, written by it.\n"
      "if ((CURRENT == 2)); then\n  local -a commands=(\n",
      manual.version);
  for (const ManualCommand& command : manual.commands)
    out += fmt::format("    {}\n", in_quotes(command.name + ":" + command.about));
  out += "  )\n  _describe command commands\n  return\nfi\nlocal -a options=()\ncase $words[2] in\n";
  for (const ManualCommand& command : manual.commands)
    out += fmt::format("  {}) options=({}) ;;\n", command.name, words_of(command));
  return out + "esac\nif [[ $PREFIX == -* ]]; then\n  compadd -- $options\nelse\n  _files\nfi\n";
}

[[nodiscard]] std::string for_fish(const Manual& manual) {
  std::string out = fmt::format("# Completions of gpustrata {} for fish, written by it.\n", manual.version);
  for (const ManualCommand& command : manual.commands) {
    out += fmt::format("complete -c gpustrata -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                       in_quotes(command.about));
    for (const ManualOption& option : command.options) {
      if (!is_named(option)) continue;
      out += fmt::format("complete -c gpustrata -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string_view name : names_of(option))
        out += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                      : fmt::format(" -s {}", name.substr(1));
      out += fmt::format("{} -d {}\n", option.value.empty() ? "" : " -r", in_quotes(option.about));
    }
  }
  return out;
}

}  // namespace

std::string man_page(const Manual& manual) {
  std::string out = fmt::format(
      ".TH GPUSTRATA 1 \"\" \"gpustrata {}\" \"User Commands\"\n.SH NAME\ngpustrata \\- see where GPU memory goes\n"
      ".SH SYNOPSIS\n.B gpustrata\n.I COMMAND\n[\\fIOPTIONS\\fR] ...\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      roff(manual.version), roff(manual.about));
  for (const ManualCommand& command : manual.commands) {
    out += fmt::format(".SS {}\n{}.\n", roff(command.name), roff(command.about));
    for (const ManualOption& option : command.options) {
      std::string names = option.names;
      for (size_t at = names.find(','); at != std::string::npos; at = names.find(',', at + 2))
        names.replace(at, 1, ", ");
      out += fmt::format(".TP\n\\fB{}\\fR{}{}{}\n{}\n", roff(names), option.value.empty() ? "" : " \\fI",
                         roff(option.value), option.value.empty() ? "" : "\\fR", roff(option.about));
    }
  }
  return out + fmt::format(".SH EXIT STATUS\n{}\n.SH LICENSE\nApache License 2.0\n", roff(manual.footer));
}

std::string completions(const Manual& manual, std::string_view shell) {
  if (shell == "bash") return for_bash(manual);
  if (shell == "zsh") return for_zsh(manual);
  if (shell == "fish") return for_fish(manual);
  return {};
}

}  // namespace gpustrata::cli
