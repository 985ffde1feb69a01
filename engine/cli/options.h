// Options of commands: what several of them take, and how a command is added to the parser. CLI11 throws.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/analysis/stacks/keys.h"
#include "engine/base/words.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/failure.h"
#include "engine/cli/input/paths.h"
#include "engine/cli/input/with_trace.h"
#include "engine/cli/one_file.h"

namespace gpustrata::cli {

template <class Options>
using Command = int (*)(const Options&, const Console&);

// A subcommand that runs `command` with its options.
template <class Options>
struct Added {
  CLI::App* app;
  std::shared_ptr<Options> options;
};

template <class Options>
Added<Options> add(CLI::App& app, Run& chosen, const char* name, const char* what, Command<Options> command) {
  Added<Options> added{app.add_subcommand(name, what), std::make_shared<Options>()};
  added.app->callback([options = added.options, command, &chosen] {
    chosen = [options, command](const Console& console) { return command(*options, console); };
  });
  return added;
}

// The same for commands about several files (Options::files), which may also be listed in a file.
template <class Options>
Added<Options> add_for_files(CLI::App& app, Run& chosen, const char* name, const char* what,
                             Command<Options> command) {
  Added<Options> added = add(app, chosen, name, what, command);
  const auto paths_from = std::make_shared<std::string>();
  added.app->add_option("FILE", added.options->files,
                        "Snapshot files, also packed (gz, zst, zip), JSON or web pages; - is standard input");
  added.app->add_option("--paths-from", *paths_from,
                        "Read further paths from this file, one a line; - is standard input");
  added.app->callback([options = added.options, paths_from, command, &chosen] {
    chosen = [options, paths_from, command](const Console& console) {
      if (!paths_from->empty()) {
        if (auto appended = append_paths(*paths_from, options->files); !appended)
          return tell(appended.error(), false, console);
      }
      if (options->files.empty()) {
        console.note("gpustrata: name a snapshot file, or a list of them with --paths-from\n");
        return kWrongUsage;
      }
      return command(*options, console);
    };
  });
  return added;
}

// What every command about one device of one file takes.
void add_choice(
    CLI::App& command, FileChoice& choice,
    const char* device = "Ordinal, or host; default: the one out of memory, else the highest peak");
// The moment of the answer; default: what `at` says.
void add_moment(CLI::App& command, std::string& at);
// What commands that group blocks take.
void add_groups(CLI::App& command, analysis::By& by, size_t& rows, bool& wide);
// A snapshot with the ops of a trace of the same run.
void add_with(CLI::App& command, WithTrace& with);
// An option whose value is a number of bytes: 20GiB, 500MB, 1048576.
void add_size(CLI::App& command, const char* name, std::optional<int64_t>& into, const char* what);

// An option whose value is one of some words.
template <class Value>
void add_word(CLI::App& command, const char* name, const char* what,
              const std::map<std::string, Value>& words, Value& value) {
  std::string all, standard;
  for (const auto& [word, meaning] : words) {
    all += (all.empty() ? "" : ", ") + word;
    if (meaning == value) standard = word;
  }
  command
      .add_option_function<std::string>(
          name,
          [words, all, name, &value](const std::string& word) {
            const auto found = words.find(word);
            if (found == words.end())
              throw CLI::ValidationError(name, "say one of " + all + ", not \"" + word + "\"");
            value = found->second;
          },
          fmt::format("{}: {}", what, all))
      ->type_name("WORD")
      ->default_str(standard);
}

// The same of an enum that has words (base/words.h); commands write "at-peak" for at_peak.
template <class Enum>
void add_word(CLI::App& command, const char* name, const char* what, Enum& value) {
  std::map<std::string, Enum> words;
  for (const std::string_view word : kWordsOf<Enum>) {
    std::string spelt(word);
    std::replace(spelt.begin(), spelt.end(), '_', '-');
    words.emplace(std::move(spelt), static_cast<Enum>(words.size()));
  }
  add_word<Enum>(command, name, what, words, value);
}

}  // namespace gpustrata::cli
