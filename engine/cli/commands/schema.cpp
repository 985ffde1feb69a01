// gpustrata schema [NAME] [--json] [--types]

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "engine/answers/described/schema.h"
#include "engine/answers/text/json_of.h"
#include "engine/answers/text/text_out.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/failure.h"
#include "engine/cli/options.h"
#include "engine/session/questions.h"

namespace gpustrata::cli {

namespace {

struct SchemaOptions {
  std::string name;   // empty: all
  bool json = false;  // of what the command of that name writes
  bool types = false;
};

// The exit code: 0; 1 if there is no such question or command.
int run_schema(const SchemaOptions& options, const Console& console) {
  answers::TextOut out(console.out);
  const answers::Types types;
  std::vector<answers::Types::Asked> questions;
  for (const session::Question& one : session::questions()) questions.push_back({one.name, one.answer});
  std::string type = options.json && !options.name.empty() ? options.name + " --json" : std::string();
  for (const answers::Types::Asked& one : questions) {
    if (!options.json && one.question == options.name) type = one.answer;
  }
  if (options.types) {
    out.add(types.typescript());
  } else if (options.name.empty() || types.has(type)) {
    answers::json_line(out, answers::PrintedSchema{types, questions, type});
  } else {
    return tell(failure(name_of(ErrorCode::wrong_usage), options.name,
                        "There is no schema of that; gpustrata schema prints all there are.")
                    .value(),
                false, console);
  }
  return out.finish() ? kSuccess : tell_unwritten(console);
}

}  // namespace

void add_schema(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "schema", "JSON Schema of answers and of what commands write with --json", run_schema);
  command->add_option("NAME", options->name, "A question of gpustrata/engine; all of them if there is none");
  command->add_flag("--json", options->json, "Of what the command of that name writes with --json");
  command->add_flag("--types", options->types, "All answers as types of TypeScript");
}

}  // namespace gpustrata::cli
