#include "engine/cli/ops_command.h"

#include <algorithm>

#include "engine/answers/json_of.h"
#include "engine/cli/each_file.h"
#include "engine/cli/exit_codes.h"

namespace gpustrata::cli {

namespace {

constexpr size_t kWide = 100'000;

[[nodiscard]] size_t columns_of_table(const OpsOptions& options, const Console& console) {
  return options.wide ? kWide : console.columns;
}

[[nodiscard]] Outcome<void> answer_as_profiler(const std::string& file, const model::Recording& recording,
                                               const OpsOptions& options, size_t columns,
                                               answers::TextOut& out) {
  const bool by_shapes = options.by == analysis::OpBy::shape;
  const auto table = analysis::find_profiler_table(recording, by_shapes);
  if (!table) return failure(table.error(), file);
  if (options.json) {
    const auto rows = answers::ProfilerRows::make(recording, *table, options.sort);
    if (!rows) return failure(rows.error(), file);
    answers::json_line(out, answers::ProfilerLine{*rows, by_shapes, file});
    return {};
  }
  const Status written = answers::to_text(out, recording, *table, options.sort, file, options.rows, columns);
  return written ? Outcome<void>() : failure(written.error(), file);
}

[[nodiscard]] Outcome<bool> answer_by_ops(const std::string& file, const model::Recording& recording,
                                          const OpsOptions& options, size_t columns, answers::TextOut& out) {
  const auto scope = options.mode == OpsMode::span ? analysis::OpScope::process : analysis::OpScope::thread;
  const auto table = analysis::find_op_memory(recording, options.by, scope, options.device);
  if (!table) return failure(table.error(), file);
  const bool found = options.device.empty() || !table->devices.empty();
  if (options.json) {
    const auto line = answers::OpsLine::make(recording, *table, options.sort, file);
    if (!line) return failure(line.error(), file);
    answers::json_line(out, *line);
    return found;
  }
  const Status written =
      answers::to_text(out, recording, *table, options.sort, file, options.device, options.rows, columns);
  if (!written) return failure(written.error(), file);
  return found;
}

}  // namespace

int run_ops(const OpsOptions& options, const Console& console) {
  bool all_found = true;
  const size_t columns = columns_of_table(options, console);
  const int exit_code = for_each_file(
      options.files, options.json, console,
      [&](const std::string& file, const model::Recording& recording,
          answers::TextOut& out) -> Outcome<void> {
        const bool is_trace =
            std::any_of(recording.parts.begin(), recording.parts.end(),
                        [](const model::Part& part) { return part.kind == model::PartKind::trace; });
        if (!is_trace)
          return failure(
              name_of(ErrorCode::unsupported), file,
              "This is no trace of a profiler, so it names no ops; `gpustrata top` says who holds memory.");
        if (options.mode == OpsMode::pytorch)
          return answer_as_profiler(file, recording, options, columns, out);
        const auto found = answer_by_ops(file, recording, options, columns, out);
        if (!found) return tl::unexpected(found.error());
        all_found = all_found && *found;
        return {};
      });
  return exit_code == kSuccess && !all_found ? kWrongUsage : exit_code;
}

}  // namespace gpustrata::cli
