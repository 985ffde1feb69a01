// gpustrata tracker FILE [OTHER] [--top 20] [--json]

#include <cstddef>
#include <string>

#include "engine/analysis/series/operator_compare.h"
#include "engine/answers/series/operator_memory.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/one_file.h"
#include "engine/cli/options.h"

namespace gpustrata::cli {

namespace {

struct TrackerOptions {
  std::string file;
  std::string other;  // empty: about one file
  size_t top = 20;
  bool json = false;
};

using analysis::OperatorRun;

[[nodiscard]] Outcome<const model::Part*> operators_of(const model::Recording& recording,
                                                       const std::string& file) {
  if (const model::Part* part = analysis::find_operators(recording)) return part;
  return failure(name_of(ErrorCode::unsupported), file,
                 "This file has no samples by operator. MemoryTracker of torch.distributed writes them with "
                 "save_stats().");
}

[[nodiscard]] Outcome<void> answer_one(const TrackerOptions& options, const model::Recording& recording,
                                       answers::TextOut& out, const Console& console) {
  const auto part = operators_of(recording, options.file);
  if (!part) return tl::unexpected(part.error());
  const auto memory = analysis::operator_memory(recording, **part, options.top);
  if (!memory) return failure(memory.error(), options.file);
  if (options.json) {
    answers::json_line(out, answers::TrackerLine{{options.file, recording}, *memory});
    return {};
  }
  answers::to_text(out, recording, *memory, options.file, console.columns);
  return {};
}

[[nodiscard]] Outcome<void> answer_two(const TrackerOptions& options, const model::Recording& before,
                                       const model::Recording& after, answers::TextOut& out,
                                       const Console& console) {
  const auto first = operators_of(before, options.file);
  if (!first) return tl::unexpected(first.error());
  const auto second = operators_of(after, options.other);
  if (!second) return tl::unexpected(second.error());
  const auto comparison =
      analysis::compare_operators(OperatorRun{before, **first}, OperatorRun{after, **second}, options.top);
  if (!comparison) return failure(comparison.error(), options.other);
  if (options.json) {
    answers::json_line(
        out, answers::TrackerComparison{{options.file, before}, {options.other, after}, *comparison});
    return {};
  }
  answers::to_text(out, *comparison, options.file, options.other, console.columns);
  return {};
}

// The exit code: 0; 2 if a file could not be read, or is none of MemoryTracker.
int run_tracker(const TrackerOptions& options, const Console& console) {
  FileChoice file;
  file.file = options.file;
  file.json = options.json;
  if (options.other.empty()) {
    return answer_about(file, console, [&](const model::Recording& recording, answers::TextOut& out) {
      return answer_one(options, recording, out, console);
    });
  }
  FileChoice other = file;
  other.file = options.other;
  return answer_about(
      file, other, console,
      [&](const model::Recording& before, const model::Recording& after, answers::TextOut& out) {
        return answer_two(options, before, after, out, console);
      });
}

}  // namespace

void add_tracker(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(
      app, chosen, "tracker", "Memory by operator, from statistics of PyTorch's MemoryTracker", run_tracker);
  command->add_option("FILE", options->file, "Pickle of MemoryTracker.save_stats(); - is standard input")
      ->required();
  command->add_option("OTHER", options->other, "A later one: what changed, operator by operator");
  command->add_option("--top", options->top, "Operators to list")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, size_t{1'000'000'000}));
  command->add_flag("--json", options->json, "One JSON object on one line");
}

}  // namespace gpustrata::cli
