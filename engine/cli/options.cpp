#include "engine/cli/options.h"

#include "engine/cli/moment.h"
#include "engine/cli/sizes.h"

namespace gpustrata::cli {

void add_choice(CLI::App& command, FileChoice& choice) {
  command.add_option("FILE", choice.file, "Snapshot file; - is standard input")->required();
  command.add_option("--device", choice.device,
                     "Ordinal, or host; default: the one out of memory, else the highest peak");
  command.add_option("--snapshot", choice.snapshot, "Name or index, where a file holds several");
  command.add_flag("--json", choice.json, "One JSON object on one line");
}

void add_moment(CLI::App& command, std::string& at) {
  command.add_option("--at", at, std::string(kMomentHelp))
      ->type_name("MOMENT")
      ->capture_default_str()
      ->check([](const std::string& given) {
        return is_moment(given) ? "" : "say peak, end, start, or the index of an event";
      });
}

void add_groups(CLI::App& command, analysis::By& by, size_t& rows, bool& wide) {
  const std::map<std::string, analysis::By> groups{{"stack", analysis::By::stack},
                                                   {"line", analysis::By::line},
                                                   {"function", analysis::By::function},
                                                   {"file", analysis::By::file}};
  command
      .add_option_function<std::string>(
          "--by",
          [groups, &by](const std::string& word) {
            const auto found = groups.find(word);
            if (found == groups.end())
              throw CLI::ValidationError("--by", "say stack, line, function or file, not \"" + word + "\"");
            by = found->second;
          },
          "What blocks are grouped by: stack, line, function or file")
      ->type_name("WORD")
      ->default_str("stack");
  command.add_option("-n", rows, "Rows to show")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, size_t{1'000'000}));
  command.add_flag("--wide", wide, "Lines as long as they are, not cut to the terminal");
}

void add_with(CLI::App& command, WithTrace& with) {
  CLI::Option* const trace = command.add_option(
      "--with", with.trace,
      "torch.profiler trace of the same run: allocations are given the ops they happened in");
  command
      .add_option("--offset", with.wanted.offset_us,
                  "Microseconds to add to the snapshot's times, if its clock and the trace's differ")
      ->needs(trace);
}

void add_size(CLI::App& command, const char* name, std::optional<int64_t>& into, const char* what) {
  command
      .add_option_function<std::string>(
          name,
          [name, &into](const std::string& text) {
            into = size_in(text);
            if (!into) throw CLI::ValidationError(name, "say a size as 20GiB, not \"" + text + "\"");
          },
          what)
      ->type_name("SIZE");
}

}  // namespace gpustrata::cli
