// gpustrata manual [--completions bash|zsh|fish]
#include <memory>
#include <string>

#include "engine/cli/commands/all.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/failure.h"
#include "engine/cli/manual.h"
#include "engine/cli/options.h"
#include "engine/cli/version.h"

namespace gpustrata::cli {

namespace {

[[nodiscard]] Manual manual_of(const CLI::App& app) {
  Manual manual{std::string(kVersion), app.get_description(), app.get_footer(), {}};
  for (const CLI::App* command : app.get_subcommands({})) {
    ManualCommand& described = manual.commands.emplace_back();
    described.name = command->get_name();
    described.about = command->get_description();
    for (const CLI::Option* option : command->get_options()) {
      const bool is_flag = option->get_expected_max() == 0;
      described.options.push_back(
          {option->get_positional() ? option->get_name() : option->get_name(false, true),
           is_flag ? "" : option->get_type_name(), option->get_description()});
    }
  }
  return manual;
}

}  // namespace

void add_manual(CLI::App& app, Run& chosen) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* const command =
      app.add_subcommand("manual", "This manual as a page for man, or completions for a shell");
  command->add_option("--completions", *shell, "A script for bash, zsh or fish instead")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, &chosen, shell] {
    chosen = [shell, manual = manual_of(app)](const Console& console) {
      const std::string text = shell->empty() ? man_page(manual) : completions(manual, *shell);
      return console.out.write(io::bytes_of(text)) ? kSuccess : tell_unwritten(console);
    };
  });
}

}  // namespace gpustrata::cli
