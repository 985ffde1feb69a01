// gpustrata anonymize FILE -o OUT [--json]

#include <string>

#include "engine/answers/clients/written_file.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input/input.h"
#include "engine/cli/options.h"
#include "engine/cli/output/output_file.h"
#include "engine/io/writers/torch_snapshot.h"
#include "engine/model/anonymous.h"

namespace gpustrata::cli {

namespace {

struct AnonymizeOptions {
  std::string file;    // - is standard input
  std::string output;  // - is standard output
  bool json = false;
};

[[nodiscard]] Outcome<answers::Anonymized> anonymize(const AnonymizeOptions& options,
                                                     const Console& console) {
  Budget budget(console.budget_bytes);
  model::Recording recording(budget);
  if (auto read = read_recording(options.file, recording, console); !read)
    return tl::unexpected(read.error());
  const auto replaced = model::anonymize(recording);
  if (!replaced) return failure(replaced.error(), options.file);
  const auto bytes =
      write_output(options.output, {&options.file, 1}, console, [&](io::ByteSink& sink) -> Outcome<void> {
        const Status written = io::write_torch_snapshot(recording, sink);
        return written ? Outcome<void>() : failure(written.error(), options.output);
      });
  if (!bytes) return tl::unexpected(bytes.error());
  return answers::Anonymized{options.file, options.output, *bytes, *replaced};
}

// Writes the snapshots as a pickle without the program's words (model/anonymous.h). The exit code.
int run_anonymize(const AnonymizeOptions& options, const Console& console) {
  const auto done = anonymize(options, console);
  // Standard output is the file's if it was asked for.
  const Console beside{options.output == "-" ? console.notes : console.out, console.notes, console.columns,
                       console.is_watched, console.budget_bytes};
  if (!done) return tell(done.error(), options.json, beside);
  const std::string text = options.json ? answers::json_of(*done) + "\n" : answers::to_text(*done);
  return beside.out.write(io::bytes_of(text)) ? kSuccess : tell_unwritten(console);
}

}  // namespace

void add_anonymize(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "anonymize", "The snapshot without the words of its program, all numbers kept",
          run_anonymize);
  command->add_option("FILE", options->file, "Snapshot file; - is standard input")->required();
  command->add_option("-o,--output", options->output, "Where to write (pickle); - is standard output")
      ->required();
  command->add_flag("--json", options->json, "Answer as a JSON object");
}

}  // namespace gpustrata::cli
