// gpustrata run [OPTIONS] PROGRAM [ARGUMENTS...], gpustrata dump [PID...], gpustrata estimate [OPTIONS] PROGRAM [ARGUMENTS...]
#include "engine/cli/commands/of_package.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "engine/cli/commands/all.h"
#include "engine/cli/exit_codes.h"

namespace gpustrata::cli {

namespace {

// A Python without the package says so in our words.
constexpr const char* kProgram =
    "import sys\n"
    "try:\n"
    "    from gpustrata.__main__ import main\n"
    "except ImportError as error:\n"
    "    sys.exit(f'gpustrata {sys.argv[1]}: {sys.executable} lacks the Python package of gpustrata: {error}')\n"
    "sys.exit(main(sys.argv[1:]))\n";

void become_python(const std::string& python, std::span<const std::string> words) {
  std::vector<std::string> all{python, "-c", kProgram};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  pointers.reserve(all.size() + 1);
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(python.c_str(), pointers.data());
}

// The parser sees these commands only to print their help.
void chooses_nothing(CLI::App& command, Run& chosen) {
  command.callback([&chosen] { chosen = [](const Console&) { return kWrongUsage; }; });
}

}  // namespace

bool is_of_package(std::span<const std::string> arguments) {
  return !arguments.empty() &&
         (arguments[0] == "run" || arguments[0] == "dump" || arguments[0] == "estimate") &&
         (arguments.size() == 1 || (arguments[1] != "--help" && arguments[1] != "-h"));
}

int become_package(std::span<const std::string> arguments, const Console& console) {
  std::error_code ignored;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", ignored);
  // An environment has its Python beside its commands.
  if (!own.empty()) become_python(own.parent_path() / "python3", arguments);
  become_python("python3", arguments);
  console.note("gpustrata {}: python3 cannot be begun: {}\n", arguments[0], std::strerror(errno));
  return kFailed;
}

void add_run(CLI::App& app, Run& chosen) {
  CLI::App* const command = app.add_subcommand(
      "run",
      "Run a program and record what PyTorch's own allocator does, or what it takes from the CUDA driver "
      "(Python package)");
  // Understood by the package (capture/python/gpustrata/_run/options.py): here they are for help and completions.
  const auto text = std::make_shared<std::string>();
  command->add_option("PROGRAM", *text, "PROGRAM.py, PROGRAM, -m MODULE or -- COMMAND, and its arguments");
  command->add_option("-o,--output", *text,
                      "Name of the files; {host}, {rank}, {device} and {pid} are those of the process. "
                      "NAME.gpustrata: a journal, which is whole if the process is killed");
  const auto flag = std::make_shared<bool>(false);
  command->add_flag("--on-oom", *flag, "Leave a file only when memory runs out");
  command->add_option("--steps", *text,
                      "Record only these steps of the optimizer: 3:6 is 3, 4 and 5, counted from 0");
  command->add_option("--stacks", *text,
                      "Frames of each event: python, all (also C++), native (C++ alone), none");
  command->add_option("--max-events", *text, "The newest events kept of each device");
  command->add_flag("--driver", *flag,
                    "In Pythons, too, record what is taken from the CUDA driver, in a journal of its own");
  command->add_option("--max-size", *text, "Of a journal: its oldest events go");
  command->add_option("--notify", *text,
                      "Run this by the shell when memory runs out: the report is its input, and "
                      "GPUSTRATA_SNAPSHOT the name of the file");
  command->add_option("--dump-on-signal", *text,
                      "This signal, as USR2, writes a snapshot, as gpustrata dump does");
  command->add_flag("--observe", *flag,
                    "Hear of events in PyTorch's allocator instead of turning on its history");
  chooses_nothing(*command, chosen);
}

void add_dump(CLI::App& app, Run& chosen) {
  CLI::App* const command = app.add_subcommand(
      "dump", "A snapshot of a process under gpustrata run; without PID: which there are (Python package)");
  const auto text = std::make_shared<std::string>();
  command->add_option("PID", *text, "Process ids");
  command->add_option("-o,--output", *text, "Name of the file, with the fields of gpustrata run");
  chooses_nothing(*command, chosen);
}

void add_estimate(CLI::App& app, Run& chosen) {
  CLI::App* const command = app.add_subcommand(
      "estimate", "Estimate the memory of a PyTorch program without a GPU (Python package)");
  // Understood by the package (capture/python/gpustrata/_estimate/command.py).
  const auto text = std::make_shared<std::string>();
  command->add_option("PROGRAM", *text, "PROGRAM.py or -m MODULE, and its arguments");
  command->add_option("--device", *text, "Memory of the device, as 80GiB");
  command->add_option("--conf", *text, "Settings as in PYTORCH_CUDA_ALLOC_CONF");
  command->add_option(
      "--margin", *text,
      "What of the device PyTorch's allocator does not get: CUDA's context, other processes, what "
      "kernels take inside");
  command->add_option("-o,--output", *text, "Write the snapshot to this file; it opens as any recording");
  const auto flag = std::make_shared<bool>(false);
  command->add_flag("--whole", *flag, "Do not end the snapshot where the device is full");
  command->add_flag("--json", *flag, "One JSON object on one line");
  chooses_nothing(*command, chosen);
}

}  // namespace gpustrata::cli
